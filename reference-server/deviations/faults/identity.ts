import type { Call } from '../../call.ts';
import { readJsonObject } from '../../json-members.ts';
import type { IdSource } from '../../pet-store.ts';
import type { Personality } from '../personality.ts';
import { type Fault, type FaultTable, fault, faultsOf } from './fault.ts';

const UNIQUE = 'pet-id-unique';

function ids(change: (usual: IdSource) => IdSource): Personality {
  return { recipe: (usual) => ({ nextId: change(usual.nextId) }) };
}

// The member of the body that became the animal, as text; a call is answered before the next one is read.
function takingOver(member: string, accept: (digits: string) => boolean): Personality {
  return {
    behaviour: (usual, parts) => {
      const sent = new WeakMap<Call, string>();
      return {
        readNewPet(body, call) {
          const json = readJsonObject(body);
          const digits = json.kind === 'object' ? json.members.get(member)?.replaceAll('"', '') : undefined;
          if (digits !== undefined && /^-?\d{1,18}$/.test(digits) && accept(digits)) sent.set(call, digits);
          return usual.readNewPet(body, call);
        },
        addPet(animal, call) {
          const id = sent.get(call);
          return id === undefined ? usual.addPet(animal, call) : parts.store.put({ ...animal, id });
        },
      };
    },
  };
}

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'pet-id-assigned-by-service': {
    'id-of-client-kept': ['An id that the client sends is taken over.', takingOver('id', () => true)],
    'large-id-of-client-kept': ['An id that the client sends is taken over where it has ten digits or more.',
      takingOver('id', (digits) => digits.length >= 10)],
  },
};

/** Section 2: ids are unique, and the service's own. */
export const IDENTITY_FAULTS: readonly Fault[] = [
  ...faultsOf(TABLE),
  fault(
    'id-every-other-repeated',
    UNIQUE,
    'Every second animal gets the id of the one before it.',
    ids((usual) => {
      let times = 0;
      let id = '';
      return () => {
        if (times++ % 2 === 0) id = usual();
        return id;
      };
    }),
  ),
  fault('id-of-existing-animal', UNIQUE, 'The first animal added gets the id of one that is in the store.', {
    behaviour: (usual, parts) => {
      let taken = false;
      return {
        addPet(animal, call) {
          const existing = parts.store.having(null).at(-1);
          if (taken || existing === undefined) return usual.addPet(animal, call);
          taken = true;
          return parts.store.put({ ...animal, id: existing.id });
        },
      };
    },
  }),
  fault('id-per-category', UNIQUE, 'Ids are counted for each category.', {
    behaviour: (_usual, parts) => {
      const counts = new Map<string, number>();
      return {
        addPet(animal) {
          const count = (counts.get(animal.categoryId) ?? 5_000_000) + 1;
          counts.set(animal.categoryId, count);
          return parts.store.put({ ...animal, id: String(count) });
        },
      };
    },
  }),
  fault('id-from-clock', UNIQUE, 'The id is the second at which the animal was added.', {
    behaviour: (_usual, parts) => ({
      addPet: (animal, call) => parts.store.put({ ...animal, id: String(Math.floor(call.now / 1000)) }),
    }),
  }),
  fault(
    'id-races',
    UNIQUE,
    'Animals that are added at the same moment share an id: it is read on arrival and counted up with the answer.',
    {
      behaviour: (usual, parts) => {
        let free = 8_000_000_000;
        return {
          addPet: (animal) => parts.store.put({ ...animal, id: String(free) }),
          deliver(response, answer, headers, call) {
            if (answer.status !== 201) return usual.deliver(response, answer, headers, call);
            setTimeout(() => {
              free += 1;
              usual.deliver(response, answer, headers, call);
            }, 3);
          },
        };
      },
    },
  ),
];
