import t from 'tap';
import { matrixOf } from '../compare/matrix.ts';
import { FORMATS } from '../formats.ts';
import type { Report } from '../report.ts';
import { axeViolations, noBrowser, openPage } from '../testing/browser.ts';
import { HOSTILE_STRINGS } from '../testing/hostile-text.ts';
import {
  broken,
  exchange,
  petList,
  render,
  reportWith,
  row,
  unpermitted,
} from '../testing/sample-reports.ts';

/** Eleven failures of five causes, among a hundred rows, with hostile text. */
function manyFailures(): Report {
  const causes = ['a', 'b', 'c', 'd', 'e'].map((id) =>
    broken(id, { at: ['body/98/status'], title: HOSTILE_STRINGS[0] ?? '' }),
  );
  const follow = Array.from({ length: 6 }, (_, index) => broken(`f-${index}`, { consequenceOf: 'a' }));
  const others = Array.from({ length: 80 }, (_, index) =>
    row(`row-${index}`, { section: `${(index % 9) + 1}` }),
  );
  const hostile = JSON.stringify(HOSTILE_STRINGS[1]);
  const list = petList(100, { index: 98, status: 'odd' }).replace('"odd"', hostile);
  return reportWith([...causes, ...follow, ...others, unpermitted('skipped', 'day')], {
    exchanges: [exchange('lists#1', list)],
  });
}

t.test('the page in a browser', { skip: noBrowser() }, async (t) => {
  const folder = t.testdir();
  const text = render(manyFailures(), 'html');

  await t.test('the first screen is the first defect, and eleven failures are no long page', async (t) => {
    for (const [width, most] of [
      [1400, 6_000],
      [400, 9_000],
    ] as const) {
      const { page, trouble } = await openPage(folder, 'report.html', text, width);
      const defect = await page.locator('.defect').first().boundingBox();
      t.ok((defect?.y ?? 900) < 450, `it begins at ${defect?.y} of 900 at width ${width}`);
      t.ok(await page.locator('.defect mark').first().isVisible(), 'what is wrong is marked');
      t.equal(await page.locator('.defect[open]').count(), 1, 'the others are folded');
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
      const across = await page.evaluate('document.documentElement.scrollWidth');
      t.ok(height < most, `${height} pixels`);
      t.equal(across, width, 'it does not scroll sideways');
      t.strictSame(trouble, []);
      t.equal(await page.evaluate('window.pwned'), undefined);
      await page.close();
    }
  });

  await t.test('card and bar count alike; a link opens what it leads to', async (t) => {
    const { page } = await openPage(folder, 'report.html', text);
    t.match(await page.locator('h1').textContent(), '11 of 91 requirements broken, 5 causes');
    t.match(await page.locator('.tally').first().textContent(), '11 broken');
    await page.locator('.defect a', { hasText: 'f-3' }).click();
    t.ok(await page.locator('#r-f-3').isVisible());
  });

  await t.test('nothing that axe objects to, light and dark', async (t) => {
    const column = { name: 'one', report: manyFailures() };
    for (const [name, html] of [
      ['report.html', text],
      ['matrix.html', FORMATS.html.render(matrixOf([column, column]))],
    ] as const) {
      const { page } = await openPage(folder, name, html);
      t.strictSame(await axeViolations(page), []);
    }
  });
});
