import t from 'tap';
// Only here the server's folder looks at the contract: faults and answers name its rows, and no id may be mistyped.
import { currentId, gaps, requirements } from '../../spec/contract.ts';
import { FAULTS, EVERY_FAULT as faults } from './faults/index.ts';
import { EVERY_VARIANT as variants } from './variants/index.ts';

t.test('each has a name of its own', async (t) => {
  for (const all of [faults, variants]) {
    const names = all.map(({ name }) => name);
    t.strictSame(names, [...new Set(names)]);
    for (const name of names) t.match(name, /^[a-z][a-z0-9-]+$/);
  }
});

t.test('a fault breaks a requirement that can be checked, and none is without a fault', async (t) => {
  const checked = requirements.filter(({ excluded }) => excluded === undefined);
  const ids = new Set<string>(checked.map(({ id }) => id));
  for (const { name, breaks } of faults) t.ok(ids.has(currentId(breaks)), `${name}: ${breaks}`);
  // What a server may do it may also leave: nothing breaks a MAY.
  const broken = new Set(FAULTS.map(({ breaks }) => currentId(breaks)));
  for (const { id, level } of checked) t.ok(level !== 'MUST' || broken.has(id), `${id} has a fault`);
});

// Where clients differ in what they cope with, though the document has no such question.
const OWN_QUESTIONS =
  `added-visibility clock connection content-coding date-header day-kind day-used day-used-of-one
  delivery deprecation-announcement extra-response-fields header-case headers-beyond-ascii id-assignment
  json-notation latency list-order malformed-id media-type-parameter name-uniqueness null-status other-paths
  permissions-of-keys quota-without-key rate-headers-window rate-remaining-moment rate-window-kind retry-after-margin
  transfer-coding unknown-fields unsupported-media-type`.split(/\s+/);

t.test('an answer is to a question of the contract, and one that the question knows', async (t) => {
  for (const { name, answers } of variants) {
    for (const [question, answer] of Object.entries(answers)) {
      if (OWN_QUESTIONS.includes(question)) continue;
      const gap = gaps.find(({ id }) => id === currentId(question));
      // A form has a part of its own in angle brackets. Which codes there are is described in words.
      const isForm = gap?.forms.some((form) =>
        new RegExp(`^${form.replaceAll(/<[^>]+>/g, '.+')}$`).test(answer),
      );
      const isKnown = gap?.open || isForm || gap?.answers.includes(answer) || question === 'error-codes';
      t.ok(gap !== undefined && isKnown, `${name}: ${question}: ${answer}`);
    }
  }
});
