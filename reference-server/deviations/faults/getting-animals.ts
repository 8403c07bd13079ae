import type { Pet } from '../../pet-store.ts';
import { together } from '../personality.ts';
import {
  answering,
  failing,
  finding,
  firstPet,
  foundAs,
  hiding,
  noting,
  petShown,
  succeeds,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const rounded = (digits: string) => BigInt(Number(digits)).toString();

/** Finds the animals that clients added, or the others, and no more. */
const findingOnly = (which: 'added' | 'not added') => () => {
  const added = new Set<string>();
  return together(
    noting(({ id }) => added.add(id)),
    finding((usual, petId, call) => (added.has(petId) === (which === 'added') ? usual(petId, call) : null)),
  );
};

/** Section 4.3: the animal that an id names, as it is. */
// biome-ignore format: a table, a line or two for each fault
export const GETTING_ANIMAL_FAULTS: FaultTable = {
  'get-answers-200': {
    'get-takes-away': ['An animal that was added is gone from the store once it is retrieved.', () => {
      const added = new Set<string>();
      const taken = new Set<string>();
      const isTaken = ({ id }: Pet) => taken.has(id);
      return together(noting(({ id }) => added.add(id)), hiding(isTaken), finding((usual, petId, call) => {
        if (taken.has(petId)) return null;
        if (added.has(petId)) taken.add(petId);
        return usual(petId, call);
      }));
    }],
    'get-large-ids-missing': ['An animal whose id is beyond 2^53 answers 404.',
      foundAs((pet) => (Number(pet.id) > Number.MAX_SAFE_INTEGER ? null : pet))],
    'get-answers-203': ['A retrieved animal is answered with 203.',
      answering(succeeds('getPet'), (answer) => ({ ...answer, status: 203 }))],
    'get-added-missing': ['An animal that was added answers 404.', findingOnly('not added')],
    'get-missing-unless-added': ['Only animals that a client added can be retrieved.', findingOnly('added')],
    'get-statusless-missing': ['An animal without a status answers 404.',
      foundAs((pet) => (pet.status === null ? null : pet))],
    'get-missing-with-another-key': ['An animal is found with the key that added it only.', () => {
      const adders = new Map<string, string | undefined>();
      return together(
        noting(({ id }, { key }) => adders.set(id, key?.name)),
        foundAs((pet, { key }) => (!adders.has(pet.id) || adders.get(pet.id) === key?.name ? pet : null)),
      );
    }],
    'get-once-only': ['An animal answers 404 from the second retrieval on.', () => {
      const seen = new Set<string>();
      return finding((usual, petId, call) => {
        const again = seen.has(petId);
        seen.add(petId);
        return again ? null : usual(petId, call);
      });
    }],
    'get-second-time-410': ['An animal answers 410 from the second retrieval on.', () => {
      const seen = new Set<string>();
      return failing(410, (answer, { route }) => {
        if (answer.status !== 200 || route.operation !== 'getPet') return false;
        const again = seen.has(route.petId);
        seen.add(route.petId);
        return again;
      });
    }],
    'get-missing-after-unknown': ['After an unknown id the next retrieval answers 404 too.', () => {
      let unknown = false;
      return finding((usual, petId, call) => {
        const found = unknown ? null : usual(petId, call);
        unknown = found === null && !unknown;
        return found;
      });
    }],
  },
  'get-returns-requested-id': {
    'get-first-animal': ['Every known id is answered with the first animal.',
      foundAs((_pet, _call, parts) => firstPet(parts))],
    'get-id-rounded': ['The id of a retrieved animal is rounded to a double.',
      petShown((pet) => ({ ...pet, id: rounded(pet.id) }), 'getPet')],
    'get-looks-up-rounded-id': [
      'An id is rounded to a double before it is looked up among others that are rounded too.',
      foundAs((pet, _call, { store }) => Number.isSafeInteger(Number(pet.id)) ? pet
        : [...store.having(null)].findLast(({ id }) => Number(id) === Number(pet.id)) ?? pet)],
    'get-answers-one-before': ['Every third retrieval is answered with the animal of the one before.', () => {
      let before: Pet | null = null;
      let times = 0;
      return foundAs((pet) => {
        times += 1;
        const answered = times % 3 === 0 ? before : pet;
        before = pet;
        return answered;
      });
    }],
  },
  'get-same-animal': {
    'get-name-upper-case': ['A retrieved name is in upper case.',
      petShown((pet) => ({ ...pet, name: pet.name.toUpperCase() }), 'getPet')],
    'get-without-status': ['A retrieved animal has no status.',
      petShown((pet) => ({ ...pet, status: null }), 'getPet')],
    'get-category-rounded': ['categoryId of a retrieved animal is rounded to a double.',
      petShown((pet) => ({ ...pet, categoryId: rounded(pet.categoryId) }), 'getPet')],
    'get-pending-as-available': ['A pending animal is retrieved as available.',
      petShown((pet) => (pet.status === 'pending' ? { ...pet, status: 'available' } : pet), 'getPet')],
    'get-name-question-marks': ['Characters that are not plain ASCII are retrieved as question marks.',
      petShown((pet) => ({ ...pet, name: pet.name.replaceAll(/[^\x20-\x7e]/g, '?') }), 'getPet')],
  },
};
