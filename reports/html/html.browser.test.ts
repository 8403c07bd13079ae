import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import type { Report } from '../report.ts';
import { axeViolations, noBrowser, startBrowser } from '../testing/browser.ts';
import { hostileReport } from '../testing/hostile-report.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
  partialReport,
} from '../testing/sample-reports.ts';
import { renderHtml } from './html.ts';

const skip = noBrowser();

// A browser on a busy machine takes its time.
interface Opened {
  readonly page: Page;
  /** What the page logged as an error, threw, or asked of a network; empty is well. */
  readonly complaints: string[];
}

interface Look {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
  readonly script?: boolean;
  readonly history?: readonly Report[];
}

t.test('the report in a browser', { skip }, async (t) => {
  const browser: Browser = await startBrowser();
  t.teardown(() => browser.close());
  const folder = t.testdir();

  async function open(t: Test, report: Report, look: Look = {}): Promise<Opened> {
    const file = join(folder, `${t.name.replace(/\W+/g, '-')}.html`);
    writeFileSync(file, renderHtml(report, look.history));
    const context = await browser.newContext({
      viewport: { width: look.width ?? 1280, height: 900 },
      colorScheme: look.scheme ?? 'light',
      javaScriptEnabled: look.script ?? true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    t.teardown(() => context.close());
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    const url = pathToFileURL(file).href;
    page.on('request', (request) => {
      if (request.url().split('#')[0] !== url) complaints.push(`request to ${request.url()}`);
    });
    await page.goto(url);
    return { page, complaints };
  }

  const shownRows = (page: Page) => page.locator('.req:not([hidden])').count();

  await t.test('filter and search', async (t) => {
    const { page, complaints } = await open(t, notConformantReport());
    t.match(await page.title(), /^Not conformant: 5 of 90 requirements broken/);
    t.equal(await shownRows(page), 101);
    await page.getByRole('button', { name: 'Broken 5' }).click();
    t.equal(await shownRows(page), 5);
    t.equal(await page.locator('#matches').textContent(), '5 of 101 shown');
    t.equal(await page.locator('.group:not([hidden])').count(), 3, 'sections without a match are gone');
    t.equal(await page.locator('.req:visible').count(), 5, 'and the others are open');
    await page.getByLabel('Search', { exact: true }).fill('retry-after');
    t.equal(await shownRows(page), 1);
    await page.getByRole('button', { name: /^All/ }).click();
    t.ok((await shownRows(page)) >= 5, 'in all rows, also in what the document says');
    await page.getByLabel('Search', { exact: true }).fill('authentication missing');
    t.ok((await shownRows(page)) >= 1, 'words of the section count');
    await page.getByLabel('Search', { exact: true }).fill('no such thing');
    t.ok(await page.getByText('Nothing matches').isVisible());
    await page.getByRole('button', { name: 'Show all' }).click();
    t.equal(await shownRows(page), 101);
    t.equal(await page.locator('.group[open]').count(), 4, 'open as before');
    await page.getByLabel('Search', { exact: true }).fill('404 pets/9223372036854775807');
    t.equal(await shownRows(page), 1, 'what was exchanged counts too');
    t.ok(await page.locator('#r-error-status-matches').isVisible());
    t.strictSame(complaints, []);
  });

  await t.test('expand, collapse, and evidence beneath its requirement', async (t) => {
    const { page, complaints } = await open(t, notConformantReport());
    t.equal(await page.locator('.req[open]').count(), 5, 'what is broken stands open');
    const row = page.locator('#r-list-answers-200');
    await row.locator('summary').first().click();
    await row.locator('.x summary').first().click();
    t.match(await row.locator('.exchange').first().textContent(), /GET \/pets\?limit=20[\s\S]*200 OK/);
    await page.getByRole('button', { name: 'Collapse all' }).click();
    t.equal(await page.locator('.req[open], .group[open]').count(), 0);
    await page.getByRole('button', { name: 'Expand all' }).click();
    t.equal(await page.locator('.req[open]').count(), 101);
    t.strictSame(complaints, []);
  });

  await t.test('the proof of a failure, with what differs marked', async (t) => {
    const { page } = await open(t, notConformantReport());
    const row = page.locator('#r-error-status-matches');
    t.strictSame(await row.locator('.expected mark').allTextContents(), ['404']);
    t.match((await row.locator('.actual mark').allTextContents()).join(), /200/);
    const exchange = row.locator('.x[open] .exchange');
    t.strictSame(await exchange.locator('mark').allTextContents(), ['404 Not Found', '"status"', '200']);
    const headers = page.locator('#r-rate-headers-on-401 .x[open] .exchange');
    t.strictSame(await headers.locator('del').allTextContents(), [
      'X-RateLimit-Remaining: (missing)',
      'X-RateLimit-Reset: (missing)',
    ]);
    t.match(
      await page.locator('#r-list-filter-before-limit .exchange').first().textContent(),
      /"id": 9007199254740991,/,
      'every digit',
    );
  });

  await t.test('copy', async (t) => {
    const { page } = await open(t, notConformantReport());
    const button = page.getByRole('button', { name: 'Copy the command that repeats error-status-matches' });
    await button.click();
    const text = await page.evaluate('navigator.clipboard.readText()');
    t.equal(text, notConformantReport().requirements.find(({ id }) => id === 'error-status-matches')?.curl);
    t.equal(await page.locator('#said').textContent(), 'Command copied');
    t.match(await page.locator('[data-copy="c-error-status-matches"]').textContent(), /^Copied/);
  });

  await t.test('the keyboard alone', async (t) => {
    const { page } = await open(t, notConformantReport());
    await page.keyboard.press('Tab');
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the requirements');
    await page.keyboard.press('Enter');
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.id')) === 'find') break;
    }
    t.equal(await page.evaluate('document.activeElement.id'), 'find', 'the search is reached');
    await page.keyboard.type('rate-minute-pro');
    t.equal(await shownRows(page), 1);
    for (let step = 0; step < 8; step += 1) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.parentElement.id')) === 'r-rate-minute-pro') break;
    }
    await page.keyboard.press('Enter');
    t.equal(await page.locator('#r-rate-minute-pro[open]').count(), 0, 'Enter closes the open row');
    await page.keyboard.press('Space');
    t.equal(await page.locator('#r-rate-minute-pro[open]').count(), 1);
  });

  await t.test('links lead to what they name, open and in view', async (t) => {
    const { page } = await open(t, notConformantReport());
    await page.getByLabel('Search', { exact: true }).fill('nothing like it');
    await page.locator('#not-verified').getByRole('link', { name: 'rate-day-pro' }).click();
    await page.waitForSelector('#r-rate-day-pro[open]');
    t.ok(await page.locator('#r-rate-day-pro').isVisible(), 'the search gave way');
    await page.locator('#r-rate-minute-pro').getByRole('link', { name: 'rate limits of pro-1' }).click();
    t.match(await page.locator('.panel:target figcaption').textContent(), /^pro-1/);
    await page.locator('#g-authentication-challenge').getByRole('link').click();
    const exchange = page.locator('#exchanges .x[open]');
    t.match(await exchange.locator('summary').textContent(), /authentication-challenge#1/);
    t.ok(await exchange.isVisible());
  });

  await t.test('the picture answers pointer and keys', async (t) => {
    const { page, complaints } = await open(t, notConformantReport());
    t.equal(await page.locator('.panel').count(), 5);
    t.match(await page.locator('.panel').nth(1).textContent(), /303 of 300 admitted12 refused/);
    const beyond = page.locator('.panel').nth(1).locator('figcaption .over');
    t.match(await beyond.textContent(), /^303 of 300 admitted in one window/);
    await page.setViewportSize({ width: 390, height: 800 });
    t.ok(await beyond.isVisible(), 'also where the plot has no room for it');
    await page.setViewportSize({ width: 1280, height: 800 });
    t.match(await page.locator('.panel').nth(3).textContent(), /banned, free after 20 s/);
    const panel = page.locator('.panel').first();
    const slider = page.getByLabel('Look along free-1');
    await slider.focus();
    await page.keyboard.press('Home');
    for (let step = 0; step < 31; step += 1) await page.keyboard.press('ArrowRight');
    t.match(await panel.locator('output').textContent(), /^9\.\d s: .*refused, 0 remaining/);
    t.match(await slider.getAttribute('aria-valuetext'), /refused/);
    const box = await page.locator('.rates-inner').boundingBox();
    if (box === null) throw new Error('no picture');
    await panel.hover({ position: { x: box.width * 0.6, y: 50 } });
    t.match(await panel.locator('output').textContent(), /^1 min 1[012]\.\d s: no request$/);
    t.equal(await page.locator('.panel').nth(1).locator('output').textContent(), '', 'each key by itself');
    await page.getByRole('button', { name: '4×' }).click();
    const zoomed = await page.locator('.rates-inner').boundingBox();
    t.equal(Math.round((zoomed?.width ?? 0) / box.width), 4);
    t.strictSame(complaints, []);
  });

  await t.test('the label of the search is a word on a narrow screen, not two lines', async (t) => {
    const { page } = await open(t, notConformantReport(), { width: 390 });
    const label = await page.locator('label[for="find"]').boundingBox();
    t.ok((label?.height ?? 99) < 30);
  });

  await t.test('requests without a valid key never look like too many', async (t) => {
    const report = conformantReport();
    const timeline = report.timeline.map((point) =>
      point.key === null ? { ...point, limit: 0, remaining: 0 } : point,
    );
    const { page } = await open(t, { ...report, timeline });
    t.equal(await page.locator('.over').count(), 0);
  });

  await t.test('without its script the page still shows everything', async (t) => {
    const { page } = await open(t, notConformantReport(), { script: false });
    t.ok(await page.locator('#r-error-status-matches .exchange').first().isVisible());
    t.notOk(
      await page.getByRole('button', { name: 'Copy' }).first().isVisible(),
      'no button that does nothing',
    );
    t.equal(await page.locator('.req').count(), 101);
  });

  await t.test('on paper: dark on white, what is broken and not verified open, no controls', async (t) => {
    const { page } = await open(t, notConformantReport(), { scheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    t.strictSame(
      await page.evaluate(
        '[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]',
      ),
      ['rgb(255, 255, 255)', 'rgb(28, 27, 32)'],
    );
    t.ok(await page.locator('#r-error-status-matches .exchange').first().isVisible());
    t.equal(await page.locator('.req[open]').count(), 5, 'what is broken');
    for (const control of ['nav', '.toolbar', '.copy', '.zoom', '.look', '#exchanges'])
      t.notOk(await page.locator(control).first().isVisible(), control);
    t.match((await page.pdf({ format: 'A4' })).subarray(0, 5).toString(), '%PDF-');
  });

  await t.test('earlier runs of a requirement', async (t) => {
    const history = [conformantReport(), notConformantReport()];
    const { page } = await open(t, notConformantReport(), { history });
    const words = await page.locator('#r-error-status-matches .history .chip').allTextContents();
    t.strictSame(words, ['Verified', 'Broken']);
  });

  await t.test('a passing run is a short page', async (t) => {
    for (const make of [conformantReport, partialReport]) {
      const { page } = await open(t, make(), { width: 1400 });
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
      t.ok(height < 6_000, `${make.name}: ${height} pixels`);
    }
  });

  for (const scheme of ['light', 'dark'] as const) {
    for (const [width, make] of [
      [1280, notConformantReport],
      [390, inconclusiveReport],
      ...(scheme === 'light' ? ([[820, hostileReport]] as const) : []),
    ] as const) {
      await t.test(
        `axe-core finds nothing: ${make.name}, ${scheme}, ${width} wide, everything open`,
        async (t) => {
          const { page, complaints } = await open(t, make(), { scheme, width });
          await page.evaluate(
            'for (const fold of document.querySelectorAll("details:not(.x)")) fold.open = true',
          );
          await page.evaluate(
            'for (const fold of [...document.querySelectorAll(".x")].slice(0, 12)) fold.open = true',
          );
          const violations = await axeViolations(page);
          t.strictSame(violations, []);
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          t.equal(overflow, 0, 'no sideways scrolling');
          t.strictSame(complaints, []);
        },
      );
    }
  }

  await t.test('hostile strings stay text', async (t) => {
    const { page, complaints } = await open(t, hostileReport());
    await page.evaluate('for (const fold of document.querySelectorAll("details")) fold.open = true');
    t.equal(await page.evaluate('window.pwned'), undefined);
    t.equal(
      await page.locator('img, iframe, object, embed, link, base, form').count(),
      0,
      'no element of theirs',
    );
    t.equal(await page.locator('script').count(), 2, 'the page’s script and its data');
    t.equal(await page.locator('style').count(), 1);
    t.strictSame(
      await page.evaluate(
        '[...document.querySelectorAll("*")].flatMap((e) => [...e.attributes]).filter((a) => a.name.startsWith("on") || /^\\s*javascript:/i.test(a.value)).map((a) => a.name)',
      ),
      [],
    );
    const text = String(await page.evaluate('document.body.innerText'));
    t.match(text, '<script>window.pwned = 1</script>');
    t.match(text, 'left ⟨U+202E⟩gnp.exe⟨U+202C⟩');
    t.notMatch(text, /[\p{Bidi_Control}]/u);
    t.ok((await page.locator('i.u').count()) > 10, 'what cannot be seen is set apart');
    t.strictSame(complaints, []);
  });

  await t.test('the policy keeps a script that got in from running', async (t) => {
    const { page } = await open(t, conformantReport());
    await page.evaluate(
      'document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=window.pwned=1>"); const s = document.createElement("script"); s.textContent = "window.pwned = 2"; document.body.append(s)',
    );
    await page.waitForTimeout(100);
    t.equal(await page.evaluate('window.pwned'), undefined);
  });
});
