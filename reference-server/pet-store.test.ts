import t from 'tap';
import { ascendingIds, newestFirst, PetStore } from './pet-store.ts';

const rex = { name: 'Rex', categoryId: '7', status: 'sold' } as const;

function threeAnimals(): PetStore {
  const store = new PetStore(ascendingIds(5n));
  store.add(rex);
  store.add({ name: 'Mia', categoryId: '9', status: null });
  store.put({ ...rex, id: '9223372036854775807', name: 'Bo' });
  return store;
}

t.test('an animal is found with all of its fields', async (t) => {
  const store = threeAnimals();
  t.strictSame(store.find('5'), { id: '5', ...rex });
  t.strictSame(store.find('6'), { id: '6', name: 'Mia', categoryId: '9', status: null });
  t.equal(store.find('7'), null);
  t.equal(store.find('0'), null);
});

t.test('of two with one id the later one is found, and both are listed', async (t) => {
  const store = threeAnimals();
  store.put({ ...rex, id: '5', name: 'Zoe' });
  t.equal(store.find('5')?.name, 'Zoe');
  t.strictSame(
    [...store.having(null)].map(({ name }) => name),
    ['Rex', 'Mia', 'Bo', 'Zoe'],
  );
});

t.test('animals by status', async (t) => {
  const store = threeAnimals();
  const names = (status: 'sold' | 'pending' | null) => [...store.having(status)].map(({ name }) => name);
  t.strictSame(names(null), ['Rex', 'Mia', 'Bo']);
  t.strictSame(names('sold'), ['Rex', 'Bo']);
  t.strictSame(names('pending'), []);
  const sold = store.having('sold');
  t.equal(sold.length, 2);
  t.strictSame(
    [0, 1, 2, -1, -2, -3].map((place) => sold.at(place)?.name),
    ['Rex', 'Bo', undefined, 'Bo', 'Rex', undefined],
  );
  t.equal(store.having(null).at(-1)?.id, '9223372036854775807');
  t.equal(store.having(null).at(-4), undefined);
});

t.test('a list begins with the newest', async (t) => {
  const names = (limit: number, status: 'sold' | null) =>
    newestFirst(threeAnimals(), { limit, status }).map(({ name }) => name);
  t.strictSame(names(2, null), ['Bo', 'Mia']);
  t.strictSame(names(9, 'sold'), ['Bo', 'Rex']);
  t.strictSame(names(1, 'sold'), ['Bo']);
});
