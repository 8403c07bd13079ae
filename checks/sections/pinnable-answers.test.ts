/** That a profile may pin whatever a run reports, and nothing else. */
import t from 'tap';
import { VARIANTS } from '../../reference-server/deviations/variants/index.ts';
import { currentId, gaps } from '../../spec/contract.ts';
import { parseProfile } from '../profile/parse-profile.ts';
import { pinnedProfileYaml } from '../profile/write-profile.ts';

/** Everything that the observers say, by gap: each kind of answer that their code has, with statuses of all sorts. */
const REPORTED: Readonly<Record<string, readonly string[]>> = {
  'category-existence': ['accepted', 'rejected-400', 'rejected-422', 'rejected-200'],
  'name-character-set': ['any-script', 'rejected-400', 'rejected-403'],
  'name-length': ['accepted', 'rejected-413', 'rejected-500'],
  'status-when-omitted': ['none', 'available', 'pending', 'sold'],
  'pagination-mechanism': ['none', 'link-header', 'x-next-cursor, x-total-count', 'content-range'],
  'store-orders': ['absent', 'present', 'answered-401', 'answered-302'],
  'error-codes': ['404 not_found', '400 invalid, body, 404 NOT FOUND', '400 ', '400 a\nb: "#c"'],
  'limit-out-of-range': [
    ...['rejected-400', 'rejected-422', 'clamped', 'defaulted', 'ignored', 'empty-list', 'no-list'],
    ...['0-rejected-400 101-clamped', '0-empty-list 101-rejected-422'],
  ],
  'limit-not-a-number': ['rejected-400', 'rejected-404', 'defaulted', 'ignored', 'empty-list', 'no-list'],
  'unknown-status-filter': ['rejected-400', 'rejected-422', 'empty-list', 'unfiltered'],
  'ban-answer': ['no-ban-seen', 'banned-401', 'banned-403', 'banned-429', 'banned-503'],
  'ban-threshold': ['no-ban-seen', '1', '17'],
  'ban-duration': ['no-ban-seen', 'not-told', '20-seconds', '0-seconds', '-3-seconds'],
  'retry-after-format': ['seconds', 'milliseconds', 'http-date', 'iso-date', 'unix-time', 'duration'],
  'status-transitions': ['pending to available', '(none) to sold, available to pending'],
};

/** Nothing that a run reports. */
const NEVER_REPORTED: Readonly<Record<string, readonly string[]>> = {
  'limit-out-of-range': ['reject', 'rejected', 'rejected-40', 'rejected-4000', '0-clamped'],
  'ban-answer': ['banned', 'banned-403 ', 'unbanned-403'],
  'ban-threshold': ['ten', '17-seconds', '1.5'],
  'ban-duration': ['20', '20 seconds', '20-seconds-'],
  'error-codes': ['not_found', '40 x', 'none'],
  'store-orders': ['no', 'answered'],
};

const gapOf = (id: string) => {
  const gap = gaps.find((candidate) => candidate.id === currentId(id));
  if (gap === undefined) throw new Error(`no gap ${id}`);
  return gap;
};

/** Whether a profile may pin this answer. */
function isTaken(id: string, answer: string): boolean {
  const pin = `gaps: { ${currentId(id)}: ${JSON.stringify(answer)} }`;
  try {
    parseProfile(`keys: [{ name: free-1, plan: free, env: FREE_KEY }]\n${pin}`, 'p');
    return true;
  } catch {
    return false;
  }
}

t.test('every gap that a run observes is in the table', async (t) => {
  const observable = gaps.filter(({ unobservable }) => unobservable === undefined);
  t.strictSame(observable.map(({ id }) => id).sort(), Object.keys(REPORTED).map(currentId).sort());
});

t.test('what --write-profile pins is read again as it was reported', (t) => {
  const least = parseProfile('keys: [{ name: free-1, plan: free, env: FREE_KEY }]', 'p');
  for (const [id, answers] of Object.entries(REPORTED)) {
    const { question } = gapOf(id);
    for (const answer of answers) {
      const text = pinnedProfileYaml(undefined, least, [{ id: currentId(id), question, answer }]);
      t.equal(parseProfile(text, 'p').gaps[currentId(id)], answer, `${id}: ${answer}`);
    }
  }
  t.end();
});

t.test('what no run reports is refused', (t) => {
  for (const [id, answers] of Object.entries(NEVER_REPORTED))
    for (const answer of answers) t.notOk(isTaken(id, answer), `${id}: ${answer}`);
  t.end();
});

t.test('the answers of every conforming personality can be pinned', (t) => {
  // Which codes a personality has its table of answers describes in words.
  const ids = Object.keys(REPORTED).filter((id) => id !== 'error-codes');
  const promised = VARIANTS.flatMap(({ name, answers }) =>
    Object.entries(answers).map(([question, answer]) => ({ name, question, answer })),
  ).filter(({ question }) => ids.includes(question));
  t.ok(promised.length > 20);
  for (const { name, question, answer } of promised)
    t.ok(isTaken(question, answer), `${name}: ${question} ${answer}`);
  t.end();
});
