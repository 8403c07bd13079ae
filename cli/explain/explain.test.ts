import t from 'tap';
import { gaps, requirements } from '../../spec/contract.ts';
import { explain } from './explain.ts';

t.test('a requirement: clause, permission, what is sent, cost and faults', async (t) => {
  const text = explain('list-limit-fills');
  t.match(text, /^list-limit-fills \(section 4\.1, MUST\): /);
  t.match(text, /^Permission: +none is needed$/m);
  t.match(text, /^Sent: +.*full-pages \(5\)/m);
  t.match(text, /^Costs: +\d+ requests at most/m);
  t.match(text, /^ {2}limit-minus-one +A list holds one animal fewer than limit\.$/m);
  t.match(explain('rate-minute-free'), /^Permission: +exhaust$/m);
  t.match(explain('rate-minute-free'), /^Costs: +one window of each key/m);
});

t.test('a question: its known answers, and how one is pinned', async (t) => {
  t.match(
    explain('limit-out-of-range'),
    /Answers: +rejected-400, clamped.*\nTo pin one.*limit-out-of-range: rejected-400/,
  );
});

t.test('every id has its text, and any other a suggestion', async (t) => {
  for (const { id } of [...requirements, ...gaps]) t.match(explain(id), id);
  t.throws(() => explain('list-limit-fill'), { message: /did you mean "list-limit-fills"\?/ });
});
