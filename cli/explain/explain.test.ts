import t from 'tap';
import { gaps, requirements } from '../../spec/contract.ts';
import { explained } from './explain.ts';

t.test('a requirement: clause, permission, what is sent, cost and faults', async (t) => {
  const text = explained('list-limit-fills');
  t.match(text, /^list-limit-fills \(section 4\.1, MUST\): /);
  t.match(text, /^Permission: +none is needed$/m);
  t.match(text, /^Sent: +.*full-pages \(5\)/m);
  t.match(text, /^Costs: +\d+ requests at most/m);
  t.match(text, /^ {2}limit-minus-one +A list holds one animal fewer than limit\.$/m);
  t.match(explained('rate-minute-free'), /^Permission: +exhaust$/m);
  t.match(explained('rate-minute-free'), /^Costs: +one window of each key/m);
});

t.test('a question: its known answers, and how one is pinned', async (t) => {
  t.match(
    explained('limit-out-of-range'),
    /Answers: +rejected-400, clamped.*\nTo pin one.*limit-out-of-range: rejected-400/,
  );
});

t.test('every id has its text, and any other a suggestion', async (t) => {
  for (const { id } of [...requirements, ...gaps]) t.match(explained(id), id);
  t.throws(() => explained('list-limit-fill'), { message: /did you mean "list-limit-fills"\?/ });
});
