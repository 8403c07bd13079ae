/** Every scenario, briefly, through k6 against the embedded server. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { CATALOGUE } from '../lib/catalogue.ts';
import { readLoadResult } from './result/read-result.ts';
import { renderLoadResult } from './result/render-result.ts';
import { assertSound, BRIEFLY, briefly, skip } from './testing/brief-runs.ts';

// They wait more than they work.
t.test('every scenario runs briefly', { skip, jobs: 3 }, async (t) => {
  t.same(Object.keys(BRIEFLY).toSorted(), CATALOGUE.map(({ name }) => name).toSorted());
  for (const { name } of CATALOGUE) {
    void t.test(name, { buffered: true }, async (t) => {
      const out = join(t.testdir({}), 'out');
      const result = await briefly(out, name);
      assertSound(t, result);
      // How fast this machine is today is not the subject.
      for (const { name: threshold, held, actual } of result.thresholds.filter(
        ({ name }) => !/^p\d|noise|creep|come back/.test(name),
      )) {
        t.ok(held, `${threshold}: ${actual}`);
      }
      t.same(readLoadResult(out), JSON.parse(JSON.stringify(result)), 'the file says the same');
      t.match(renderLoadResult(result), result.run.answers);
      if (name === 'stress' || name === 'spike')
        t.match(result.notes, [/^not judged: latency and errors recover after the peak: too few/]);
      for (const { key, sent = 0, requests } of result.bill.keys)
        t.ok(sent <= requests, `${key}: ${sent} of ${requests} on the bill`);
      if (name === 'polite-clients' || name === 'plan-limit-edge') {
        const judged = new Set(result.thresholds.map(({ key }) => key));
        for (const key of ['free-edge', 'pro-edge', 'business-edge'])
          t.ok(judged.has(key), `${key} is judged`);
      }
      const summary: unknown = JSON.parse(await readFile(join(out, 'summary.json'), 'utf8'));
      t.match(summary, { metrics: { http_reqs: {} } }, "k6's own summary is there");
    });
  }
});
