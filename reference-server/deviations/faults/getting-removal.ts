import { errorBody, problem } from '../../error-body.ts';
import type { Pet } from '../../pet-store.ts';
import { petText } from '../../pet-text.ts';
import { afterRemoval } from '../clock.ts';
import type { Personality } from '../personality.ts';
import {
  answering,
  answeringWith,
  answers,
  failing,
  foundAs,
  petWritten,
  succeeds,
  withBody,
  withError,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const gone = (when: (pet: Pet) => boolean): Personality =>
  foundAs((pet) => (when(pet) ? problem(410, 'gone', 'This operation was removed.') : pet));

/** Retrieval is answered with another status and a header that goes with it. */
const moved = (status: number, headers: readonly string[]): Personality =>
  answering(succeeds('getPet'), (answer) => ({ ...withError(answer, status), headers }));
const NO_HANDLER = errorBody({ status: 500, code: 'internal_error', message: 'No such handler.' });

/** Sections 4.3 and 6: retrieval until its removal, after it, and its successor. */
// biome-ignore format: a table, a line or two for each fault
export const GETTING_REMOVAL_FAULTS: FaultTable = {
  'get-until-removal': {
    'get-gone-already': ['Retrieval is gone before its removal date.', gone(() => true)],
    'get-gone-for-sold': ['Retrieval of a sold animal is gone before the removal date.',
      gone(({ status }) => status === 'sold')],
    'get-not-implemented': ['Retrieval is answered with 501.', failing(501, succeeds('getPet'))],
    'get-method-not-allowed': ['Retrieval is answered with 405.',
      moved(405, ['Allow', 'DELETE'])],
    'get-moved-to-successor': ['Retrieval is redirected to the list.',
      moved(301, ['Location', '../pets'])],
  },
  'get-removed': {
    'get-removed-fails': [
      'After its removal, by a clock that is there already, retrieval is answered with 500.', afterRemoval,
      answeringWith(NO_HANDLER, answers(410), 500)],
    'get-served-after-removal': ['Retrieval goes on after 5 December 2030, by a clock that is there already.',
      afterRemoval, ({ store }) => answering(answers(410, 'getPet'), (answer, { route }) => {
        const found = route.operation === 'getPet' ? store.find(route.petId) : null;
        return found === null ? withError(answer, 404) : { ...withBody(answer, petText(found)), status: 200 };
      })],
  },
  'deprecation-successor': {
    'successor-has-other-status': [
      'A retrieved animal shows a status under which the list does not have it.',
      petWritten((text, { status }) =>
        text.replace(/"status":"\w+"/, `"status":"${status === 'sold' ? 'available' : 'sold'}"`), 'getPet')],
  },
};
