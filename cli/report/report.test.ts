import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'junit2json';
import t from 'tap';
import { checkRun } from '../../reports/test-run.ts';
import { capacityResult, loadResult } from '../../reports/testing/sample-load.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
} from '../../reports/testing/sample-reports.ts';
import { COMMAND } from '../testing/command.ts';

// What the test runner has every process of Node load takes longer than most of these do.
const environment = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', GITHUB_STEP_SUMMARY: '' };

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = execFile(process.execPath, [COMMAND, 'report', ...args], { env: { ...environment, ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr?.on('data', (text: string) => {
    output.stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, ...output };
}

function results(t: { testdir: (content: Record<string, Record<string, string>>) => string }): string {
  return t.testdir({
    good: { 'report.json': JSON.stringify(conformantReport()) },
    bad: { 'report.json': JSON.stringify(notConformantReport()) },
    open: { 'report.json': JSON.stringify(inconclusiveReport()) },
    broken: { 'report.json': '{"formatVersion":1}' },
    empty: {},
  });
}

t.test('without a format it is the summary, without colour where it is no terminal', async (t) => {
  const { code, stdout, stderr } = await run([join(results(t), 'bad')]);
  t.equal(code, 0, 'rendering is not judging');
  t.match(stdout, /^✘ Not conformant: 5 of 90 requirements broken/);
  t.equal(stderr, '');
});

t.test('a format on standard output and into a file', async (t) => {
  const dir = results(t);
  const { stdout } = await run([join(dir, 'bad/report.json'), '--format', 'junit']);
  t.match(await parse(stdout), { failures: 6, errors: 0 });
  const file = join(dir, 'deep/junit.xml');
  t.match(await run([join(dir, 'bad'), '--format', 'junit', '--out', file]), { code: 0, stdout: '' });
  t.equal(readFileSync(file, 'utf8'), stdout);
  t.equal(statSync(file).mode & 0o777, 0o600);
});

t.test('several formats into a folder', async (t) => {
  const dir = results(t);
  const formats = 'html,junit,tap,markdown,sarif,github,badge,har,terminal';
  t.match(await run([join(dir, 'good'), '--format', formats, '--out', join(dir, 'empty')]), {
    code: 0,
    stderr: '',
  });
  t.strictSame(readdirSync(join(dir, 'empty')).sort(), [
    'annotations.txt',
    'badge.json',
    'exchanges.har',
    'junit.xml',
    'report.html',
    'results.sarif',
    'results.tap',
    'summary.md',
    'summary.txt',
  ]);
  t.match(await run([join(dir, 'good'), '--format', 'html,tap']), {
    code: 2,
    stderr: /need --out with a folder/,
  });
});

t.test('allure is a folder', async (t) => {
  const dir = results(t);
  t.match(await run([join(dir, 'bad'), '--format', 'allure']), { code: 2, stderr: /allure, need --out/ });
  t.match(await run([join(dir, 'bad'), '--format', 'allure', '--out', dir]), {
    code: 0,
    stdout: '',
    stderr: '',
  });
  t.equal(readdirSync(join(dir, 'allure-results')).length, checkRun(notConformantReport()).cases.length + 2);
});

t.test('history: earlier runs of the same target, not the run itself', async (t) => {
  const now = notConformantReport();
  const earlier = conformantReport();
  const at = (startedAt: string, id: string, target = now.run.target) =>
    JSON.stringify({ ...earlier, run: { ...earlier.run, startedAt, id, target } });
  const dir = t.testdir({
    now: { 'report.json': JSON.stringify(now) },
    archive: {
      a: { 'report.json': at('2026-11-01T00:00:00.000Z', 'a') },
      later: { 'report.json': at('2026-12-01T00:00:00.000Z', 'b') },
      other: { 'report.json': at('2026-11-02T00:00:00.000Z', 'c', 'https://other.example/v1') },
      same: { 'report.json': JSON.stringify(now) },
    },
  });
  const { stdout } = await run([join(dir, 'now'), '--format', 'html', '--history', join(dir, 'archive')]);
  const row = /id="r-list-each-once"[\s\S]*?(?=<details class="req)/.exec(stdout)?.[0] ?? '';
  t.match(row, 'Earlier runs');
  t.equal(row.match(/<span class="k-[a-z-]+" title=/g)?.length, 1);
});

t.test('--diff tells a regression by its exit code', async (t) => {
  const dir = results(t);
  const [good, bad] = [join(dir, 'good'), join(dir, 'bad')];
  t.match(await run(['--diff', good, bad]), { code: 1, stdout: /^Regression: 5 broke/ });
  t.match(await run(['--diff', bad, good]), { code: 0, stdout: /^No regression: 6 fixed/ });
  t.match(await run(['--diff', good, good]), { code: 0, stdout: /^No change/ });
  const json = await run(['--diff', good, bad, '--format', 'json']);
  t.match(JSON.parse(json.stdout), { formatVersion: 1, regression: true });
  t.match(await run(['--diff', good, bad, '--format', 'markdown']), { stdout: /^## ❌ Regression/ });
});

t.test('--matrix sets implementations side by side', async (t) => {
  const dir = t.testdir({
    go: { 'report.json': JSON.stringify(conformantReport()) },
    java: { 'report.json': JSON.stringify(notConformantReport()) },
  });
  t.match(await run(['--matrix', dir]), { code: 0, stdout: /2 implementations, 101 requirements/ });
  t.match(await run(['--matrix', dir, '--format', 'markdown']), {
    code: 0,
    stdout: /\| <code>go<\/code> \| <code>java/,
  });
});

t.test('a load result and a search for a capacity have every format, and a page with a base', async (t) => {
  const dir = t.testdir({
    head: { 'load-report.json': JSON.stringify(loadResult({ slower: 1.3 })) },
    base: { 'load-report.json': JSON.stringify(loadResult()) },
    capacity: { 'capacity.json': JSON.stringify(capacityResult()) },
    broken: { 'load-report.json': '{}' },
    torn: { 'capacity.json': '{"formatVersion":1}' },
  });
  const [head, base, capacity] = [join(dir, 'head'), join(dir, 'base'), join(dir, 'capacity')];
  t.match(await run([head]), { code: 0, stdout: /^mixed: How does[\s\S]*BROKEN: at least one threshold\n$/ });
  t.match(await run([capacity]), { code: 0, stdout: /410\.0 requests\/s, 95 % interval 398/ });
  t.match(await run([join(head, 'load-report.json'), '--base', base]), {
    code: 0,
    stdout: /^<!doctype html>[\s\S]*Compared with the base/,
  });
  const { stdout } = await run([head, '--format', 'junit']);
  t.match(await parse(stdout), { failures: 1, errors: 0 });
  for (const results of [head, capacity]) {
    const out = join(dir, 'empty', results === head ? 'load' : 'capacity');
    const formats = 'html,junit,tap,markdown,sarif,github,badge,terminal';
    t.match(await run([results, '--format', formats, '--out', out]), { code: 0, stderr: '' });
    t.equal(readdirSync(out).length, 8);
  }
  const summary = join(dir, 'summary.md');
  await run([head, '--format', 'github'], { GITHUB_STEP_SUMMARY: summary });
  t.match(readFileSync(summary, 'utf8'), /^## ❌ load mixed: Broken: 1 of 2 thresholds/);
  t.match(await run([head, '--format', 'junit', '--base', base]), {
    code: 2,
    stderr: /--base is for the format html/,
  });
  t.match(await run([head, '--format', 'har']), { code: 2, stderr: /a load keeps no exchanges/ });
  t.match(await run([capacity, '--base', base]), { code: 2, stderr: /by their intervals/ });
  t.match(await run([join(dir, 'broken')]), { code: 2, stderr: /is not a load result/ });
  t.match(await run([join(dir, 'torn')]), { code: 2, stderr: /is not the result of a capacity search/ });
});

t.test('annotations go to the log, the summary to where GitHub wants it', async (t) => {
  const dir = results(t);
  const summary = join(dir, 'summary.md');
  const { stdout } = await run([join(dir, 'bad'), '--format', 'github'], { GITHUB_STEP_SUMMARY: summary });
  t.match(stdout, /^::error title=error-status-matches/);
  t.match(readFileSync(summary, 'utf8'), /^## ❌ Not conformant/);
  const unwritable = { GITHUB_STEP_SUMMARY: join(dir, 'nowhere', 'summary.md') };
  t.match(await run([join(dir, 'bad'), '--format', 'github'], unwritable), {
    code: 2,
    stderr: /^error: .*summary\.md: could not be written/,
  });
});

t.test('wrong usage is one clear line and exit code 2', async (t) => {
  const dir = results(t);
  const good = join(dir, 'good');
  const cases: [string[], RegExp][] = [
    [[], /^error: give either the results of a run, or --diff OLD NEW, or --matrix FOLDER\n$/],
    [[good, '--diff', good, good], /^error: give either/],
    [[join(dir, 'nowhere')], /^error: .*nowhere: no such file/],
    [[join(dir, 'empty')], /^error: .*report\.json: no such file/],
    [
      [join(dir, 'broken')],
      /^error: .*is not a report of petstore-harness: \/ must have required property 'run'\n$/,
    ],
    [[good, '--format', 'pdf'], /^error: there is no format pdf; known here: html, junit/],
    [[good, '--format', 'jnit'], /^error: there is no format jnit; did you mean "junit"\?/],
    [[good, '--format', 'html,'], /names with commas/],
    [['--diff', good], /--diff OLD NEW/],
    [['--diff', good, good, '--format', 'html'], /--diff has one of the formats text, markdown, json/],
    [['--matrix', join(dir, 'empty')], /holds no report\.json/],
    [[good, '--history', join(dir, 'nowhere')], /nowhere/],
    [[good, '--format', 'html', '--out', join(good, 'report.json', 'x')], /a part of its path is a file/],
    [[good, '--nonsense'], /unknown option '--nonsense'/],
  ];
  for (const [args, message] of cases) {
    const { code, stderr, stdout } = await run(args);
    t.equal(code, 2, message.source);
    t.match(stderr, message);
    t.equal(stdout, '');
    t.equal(stderr.trimEnd().split('\n').length, 1, 'one line');
  }
});

t.test('--help has examples and exit codes', async (t) => {
  const { code, stdout } = await run(['--help']);
  t.equal(code, 0);
  t.match(stdout, /--diff main\/report\.json petstore-results --format markdown[\s\S]*Exit codes: 0/);
});

t.test('a reader that goes away is no error', async (t) => {
  const child = spawn(process.execPath, [COMMAND, 'report', join(results(t), 'bad'), '--format', 'html'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'close');
  t.equal(code, 0);
  t.equal(stderr, '');
});
