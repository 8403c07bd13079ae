import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { axeViolations, noBrowser, startBrowser } from './fixtures/browser.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from './fixtures/sample-reports.ts';
import { renderMatrixHtml } from './matrix.ts';

t.setTimeout(240_000);

t.test('the matrix in a browser', { skip: noBrowser() }, async (t) => {
  const browser = await startBrowser();
  t.teardown(() => browser.close());
  const file = join(t.testdir(), 'matrix.html');
  writeFileSync(
    file,
    renderMatrixHtml([
      { name: 'go', report: conformantReport() },
      { name: 'java', report: notConformantReport() },
      { name: 'python', report: inconclusiveReport() },
    ]),
  );
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 390, height: 800 } });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(pathToFileURL(file).href);
    const violations = await axeViolations(page);
    t.strictSame(violations, [], colorScheme);
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      0,
      'only the table scrolls sideways',
    );
    const visible = () =>
      page.locator('tbody tr[class="alike"]:visible, tbody tr[class="differs"]:visible').count();
    t.equal(await visible(), 101);
    await page.getByLabel(/^Only where implementations differ/).check();
    t.ok((await visible()) < 60, `${await visible()} rows differ`);
    t.strictSame(complaints, []);
    await page.close();
  }
});
