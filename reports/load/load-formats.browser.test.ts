import t from 'tap';
import { FORMATS } from '../formats.ts';
import { axeViolations, noBrowser, openPage } from '../testing/browser.ts';
import { capacityResult, loadResult } from '../testing/sample-load.ts';
import { capacityReport, loadReport } from './load-report.ts';

/** Texts in which a line ends between a number and its unit. */
const PARTED = `[...document.querySelectorAll('td, dd')].flatMap(({ firstChild: text }) =>
  [...(text?.data ?? '').matchAll(/\\d.(?:ms|s|min|MB|%)(?= |,|$)/g)].filter(({ 0: { length }, index }) => {
    const range = new Range();
    range.setStart(text, index);
    range.setEnd(text, index + length);
    return range.getClientRects().length > 1;
  }).map(() => text.data))`;

t.test('load pages in a browser', { skip: noBrowser() }, async (t) => {
  const folder = t.testdir();
  const pages = {
    load: FORMATS.html.render(loadReport(loadResult())),
    capacity: FORMATS.html.render(capacityReport(capacityResult())),
  };
  for (const [name, html] of Object.entries(pages)) {
    const { page, trouble } = await openPage(folder, `${name}.html`, html);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      t.equal(
        await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
        0,
        'no sideways scrolling',
      );
      t.strictSame(await page.evaluate(PARTED), [], `numbers stand beside their units at ${width}`);
    }
    t.strictSame(await axeViolations(page), [], name);
    t.strictSame(trouble, []);
    await page.close();
  }
});
