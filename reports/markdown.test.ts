import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import t from 'tap';
import { renderMarkdown } from './markdown.ts';
import { code } from './markdown-text.ts';
import { HOSTILE_STRINGS, hostileReport, UNSEEN_CHARACTER } from './testing/hostile-report.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
  partialReport,
} from './testing/sample-reports.ts';

/** What GitHub's dialect makes of the text. */
function html(markdown: string): string {
  return micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });
}

t.test('the verdict comes first, then a table of what is broken', async (t) => {
  const page = html(renderMarkdown(notConformantReport()));
  t.match(page, /^<h2>❌ Not conformant: 5 of 90 requirements broken, 1 pinned answer drifted/);
  const table = page.slice(page.indexOf('Broken</h3>'), page.indexOf('Drifted</h3>'));
  t.equal(table.match(/<tr>/g)?.length, 6, 'a header and five rows');
  t.match(table, '<strong>error-status-matches</strong>');
  t.match(table, '<code>Error.status is 200, the HTTP status of the response is 404</code>');
  t.match(
    table,
    /<pre><code class="language-sh"># error-status-matches\ncurl -i -H &quot;Authorization: Bearer \$PETSTORE_FREE_KEY/,
  );
  t.match(
    table,
    /The answers that prove it[\s\S]*language-http"># error-status-matches\nGET \/pets\/9223372036854775807\n\nHTTP 404/,
  );
  t.match(page, /Skipped \(4\)<\/summary>\n<ul>\n<li><strong>4<\/strong>: <code>needs the permission day/);
  t.match(page, /Drifted<\/h3>[\s\S]*used to answer/);
  t.match(page, /Known failures \(1\)<\/summary>[\s\S]*json-well-formed/);
  t.equal(page.match(/<details>/g)?.length, page.match(/<\/details>/g)?.length);
});

t.test('a conformant and an interrupted run', async (t) => {
  const good = html(renderMarkdown(conformantReport()));
  t.match(good, /^<h2>✅ Conformant: 94 of 94 requirements verified<\/h2>/);
  t.notMatch(good, 'Broken</h3>');
  const partial = html(renderMarkdown(partialReport()));
  t.match(partial, /^<h2>✅ Nothing broken: 61 of 61 asked for, 33 skipped/);
  t.notMatch(partial, /conformant/i);
  t.match(partial, 'What was skipped: would cost 5,310 requests, 6 min 52 s');
  const stale = { ...conformantReport(), verdict: 'not-conformant', problems: ['a passes now'] } as const;
  t.match(html(renderMarkdown(stale)), /<p><strong>a passes now<\/strong>/);
  const open = html(renderMarkdown(inconclusiveReport()));
  t.match(open, /^<h2>⚠️ Inconclusive/);
  t.match(open, 'simulated: 60 times as fast as real time');
  t.match(open, /Ended early: <code>SIGINT/);
});

t.test('each hostile string stays the text of one cell', async (t) => {
  for (const [index, text] of HOSTILE_STRINGS.entries()) {
    const page = html(`| a | b |\n| --- | --- |\n| ${code(text)} | end |\n`);
    t.match(
      page,
      /^<table>[\s\S]*<td><code>[^<]*<\/code><\/td>\n<td>end<\/td>\n<\/tr>\n<\/tbody>\n<\/table>\n?$/,
      `string ${index}`,
    );
  }
});

t.test('a run in which everything is broken fits a comment', async (t) => {
  const report = notConformantReport();
  const requirements = report.requirements.map((row) => ({
    ...row,
    verdict: 'fail' as const,
    actual: '"'.repeat(400),
    curl: `curl ${'x'.repeat(900)}`,
  }));
  const text = renderMarkdown({ ...report, requirements });
  t.ok(text.length <= 65_536, `${text.length} characters`);
  t.match(text, 'The rest does not fit here; see report.html.');
  t.match(text, '_and 60 more, see report.html_');
  t.match(html(text), '</table>', 'what is there is whole');
});

t.test('a hostile run fits a comment and brings no markup of its own', async (t) => {
  const text = renderMarkdown(hostileReport());
  t.ok(text.length <= 65_536, `${text.length} characters`);
  t.notMatch(text, UNSEEN_CHARACTER);
  const page = html(text);
  t.strictSame(
    [...new Set(page.match(/<[a-z][^\s>]*/g))].sort(),
    [
      '<br',
      '<code',
      '<details',
      '<h2',
      '<h3',
      '<li',
      '<p',
      '<pre',
      '<strong',
      '<summary',
      '<table',
      '<tbody',
      '<td',
      '<th',
      '<thead',
      '<tr',
      '<ul',
    ].sort(),
  );
});
