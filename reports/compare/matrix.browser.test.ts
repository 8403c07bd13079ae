import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { axeViolations, noBrowser, startBrowser } from '../testing/browser.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from '../testing/sample-reports.ts';
import { renderMatrixHtml } from './matrix-html.ts';

t.test('the matrix in a browser', { skip: noBrowser() }, async (t) => {
  const browser = await startBrowser();
  t.teardown(() => browser.close());
  const file = join(t.testdir(), 'matrix.html');
  writeFileSync(
    file,
    renderMatrixHtml([
      { name: 'go', report: conformantReport() },
      { name: 'java', report: notConformantReport() },
      { name: 'python-on-a-small-machine', report: inconclusiveReport() },
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
    const rows = page.locator('.matrix').first().locator('tr.alike:visible, tr.differs:visible');
    const visible = () => rows.count();
    t.equal(await visible(), 101);
    await page.getByLabel(/^Only where implementations differ/).check();
    t.ok((await visible()) < 60, `${await visible()} rows differ`);
    await page.locator('td.k-fail a').first().click();
    t.match(await page.locator('.told:target').textContent(), /asks[\s\S]*came[\s\S]*curl -i/);
    const box = await page.locator('.matrix thead th').nth(3).boundingBox();
    t.ok(
      (box?.x ?? 0) + (box?.width ?? 0) <= 390,
      'three implementations beside the requirement, on a phone',
    );
    const table = page.locator('.scroll').first();
    await page.getByLabel(/^Only where implementations differ/).uncheck();
    const scrolled = await page.evaluate(
      'document.querySelector(".scroll").scrollTop = 900; document.querySelector(".scroll").scrollTop',
    );
    t.ok(Number(scrolled) > 500, `${scrolled} pixels`);
    const [top, names] = [
      await table.boundingBox(),
      await page.locator('.matrix thead th').nth(1).boundingBox(),
    ];
    t.ok(Math.abs((names?.y ?? 0) - (top?.y ?? 0)) < 2, 'the names stay above what is scrolled');
    t.strictSame(complaints, []);
    await page.close();
  }
});
