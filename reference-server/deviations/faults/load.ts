import { failing, heldBack, succeeds } from '../answers.ts';
import type { DeviationTable } from '../deviation.ts';
import { adding } from '../store.ts';
import { everyTime } from '../when.ts';

/** Holds answers back, longer and longer. */
const slower = (milliseconds: (requests: number) => number) => () => {
  let requests = 0;
  return heldBack(() => milliseconds(++requests));
};

/** What shows only under load, for load scenarios; a run of checks does not send enough to see it. */
// biome-ignore format: a table, a line for most faults
export const LOAD_FAULTS: DeviationTable = {
  'list-answers-200': {
    'load-latency-leaks': slower((requests) => requests / 10),
    'load-errors': () => failing(503, succeeds('listPets'), everyTime(250)),
    'load-stalls': slower((requests) => (requests % 1000 === 0 ? 3_000 : 0)),
  },
  'pet-id-unique': {
    'load-ids-collide': () => {
      let additions = 0;
      let last = '';
      return adding((usual, animal, call) => {
        additions += 1;
        if (additions > 200 && additions % 10 === 0) return call.service.store.put({ ...animal, id: last });
        const pet = usual(animal, call);
        last = pet.id;
        return pet;
      });
    },
  },
};
