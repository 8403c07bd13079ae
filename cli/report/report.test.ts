import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'junit2json';
import t from 'tap';
import { FORMATS } from '../../reports/formats.ts';
import { capacityResult, loadResult } from '../../reports/testing/sample-load.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
} from '../../reports/testing/sample-reports.ts';
import { start } from '../testing/command.ts';
import { runHere } from '../testing/in-process.ts';

const run = (args: readonly string[], env = {}) => runHere(process.cwd(), ['report', ...args], env);

function results(t: { testdir: (content: Record<string, Record<string, string>>) => string }): string {
  return t.testdir({
    good: { 'report.json': JSON.stringify(conformantReport()) },
    bad: { 'report.json': JSON.stringify(notConformantReport()) },
    open: { 'report.json': JSON.stringify(inconclusiveReport()) },
    empty: {},
  });
}

t.test('without a format it is the summary, without colour where it is no terminal', async (t) => {
  const { code, stdout, stderr } = await run([join(results(t), 'bad')]);
  t.equal(code, 0, 'rendering is not judging');
  t.match(stdout, /^✘ Not conformant: 2 of 3 requirements broken/);
  t.equal(stderr, '');
});

t.test('each example of its help works as it is pasted', async (t) => {
  const report = () => ({ 'report.json': JSON.stringify(conformantReport()) });
  const load = { 'load-report.json': JSON.stringify(loadResult()) };
  const folder = t.testdir({
    'petstore-results': {
      '2030-01-02T030405Z': report(),
      latest: t.fixture('symlink', '2030-01-02T030405Z'),
      load,
    },
    main: report(),
    implementations: { one: report(), two: report() },
  });
  const { stdout } = await run(['--help']);
  const examples = [...stdout.matchAll(/^ {2}\$ petstore-harness (.*?)(?: {3}.*)?$/gm)];
  t.ok(examples.length >= 6);
  for (const [, command = ''] of examples)
    t.match(await runHere(folder, command.split(' ')), { code: 0, stderr: '' }, command);
});

t.test('a format on standard output and into a file', async (t) => {
  const dir = results(t);
  const { stdout } = await run([join(dir, 'bad/report.json'), '--format', 'junit']);
  t.match(await parse(stdout), { failures: 3, errors: 1 });
  const file = join(dir, 'deep/junit.xml');
  t.match(await run([join(dir, 'bad'), '--format', 'junit', '--out', file]), { code: 0, stdout: '' });
  t.equal(readFileSync(file, 'utf8'), stdout);
  t.equal(statSync(file).mode & 0o777, 0o600);
});

const EVERY_FORMAT = Object.keys(FORMATS).join();
const FILES = Object.values(FORMATS)
  .map(({ file }) => file)
  .sort();

t.test('several formats into a folder', async (t) => {
  const dir = results(t);
  t.match(await run([join(dir, 'good'), '--format', EVERY_FORMAT, '--out', join(dir, 'empty')]), {
    code: 0,
    stderr: '',
  });
  t.strictSame(readdirSync(join(dir, 'empty')).sort(), FILES);
  t.match(await run([join(dir, 'good'), '--format', 'html,tap']), {
    code: 2,
    stderr: /need --out with a folder/,
  });
});

t.test('--diff tells a regression by its exit code', async (t) => {
  const dir = results(t);
  const [good, bad] = [join(dir, 'good'), join(dir, 'bad')];
  t.match(await run(['--diff', good, bad]), { code: 1, stdout: /\nRegression: 2 broke.*\n$/ });
  t.match(await run(['--diff', bad, good]), { code: 0, stdout: /\nNo regression: 2 fixed/ });
  t.match(await run(['--diff', good, good]), { code: 0, stdout: /\nNo change\n$/ });
  t.match(await run(['--diff', good, bad, '--format', 'html']), { code: 1, stdout: /^<!doctype html>/ });
});

t.test('--matrix sets implementations side by side', async (t) => {
  const dir = t.testdir({
    go: { 'report.json': JSON.stringify(conformantReport()) },
    java: { 'report.json': JSON.stringify(notConformantReport()) },
  });
  t.match(await run(['--matrix', dir]), { code: 0, stdout: /2 implementations, 4 requirements/ });
  t.match(await run(['--matrix', dir, '--format', 'markdown']), {
    code: 0,
    stdout: /^## report --matrix: 2 implementations[\s\S]*<th scope="col">go</,
  });
});

t.test('a load result and a search for a capacity have every format', async (t) => {
  const dir = t.testdir({
    head: { 'load-report.json': JSON.stringify(loadResult()) },
    capacity: { 'capacity.json': JSON.stringify(capacityResult()) },
    broken: { 'load-report.json': '{}' },
    torn: { 'capacity.json': '{"formatVersion":2}' },
  });
  const [head, capacity] = [join(dir, 'head'), join(dir, 'capacity')];
  t.match(await run([head]), {
    code: 0,
    stdout: /^load abusive-client\n[\s\S]*\nBroken: 1 of 4 thresholds\n$/,
  });
  t.match(await run([capacity]), { code: 0, stdout: /requests\/s, reading only \(95 %/ });
  const { stdout } = await run([head, '--format', 'junit']);
  t.match(await parse(stdout), { failures: 1, errors: 0 });
  for (const results of [head, capacity]) {
    const out = join(dir, 'empty', results === head ? 'load' : 'capacity');
    t.match(await run([results, '--format', EVERY_FORMAT, '--out', out]), { code: 0, stderr: '' });
    t.strictSame(readdirSync(out).sort(), FILES);
  }
  const summary = join(dir, 'summary.md');
  await run([head, '--format', 'github'], { GITHUB_STEP_SUMMARY: summary });
  t.match(readFileSync(summary, 'utf8'), /^## ❌ load abusive-client: Broken: 1 of 4 thresholds/);
  t.match(await run([join(dir, 'broken')]), { code: 2, stderr: /is not a load result/ });
  t.match(await run([join(dir, 'torn')]), { code: 2, stderr: /is not the result of a capacity search/ });
});

t.test('annotations go to the log, the summary to where GitHub wants it', async (t) => {
  const dir = results(t);
  const summary = join(dir, 'summary.md');
  const { stdout } = await run([join(dir, 'bad'), '--format', 'github'], { GITHUB_STEP_SUMMARY: summary });
  t.match(stdout, /^::error title=one /);
  t.match(readFileSync(summary, 'utf8'), /^## ❌ Not conformant/);
  const unwritable = { GITHUB_STEP_SUMMARY: join(dir, 'nowhere', 'summary.md') };
  t.match(await run([join(dir, 'bad'), '--format', 'github'], unwritable), {
    code: 2,
    stderr: /^error: no such file or directory \(ENOENT: .*summary\.md'\)\n$/,
  });
});

t.test('wrong usage is one clear line and exit code 2', async (t) => {
  const dir = results(t);
  const good = join(dir, 'good');
  const cases: [string[], RegExp][] = [
    [[good, '--format', 'pdf'], /^error: there is no format "pdf"; known here: terminal, html, markdown/],
    [[good, '--format', 'html,'], /there is no format ""/],
    [['--diff', good, good, '--format', 'junit'], /there is no format "junit"; known here: text, html/],
  ];
  for (const [args, message] of cases) {
    const { code, stderr, stdout } = await run(args);
    t.equal(code, 2, message.source);
    t.match(stderr, message);
    t.equal(stdout, '');
    t.equal(stderr.trimEnd().split('\n').length, 1, 'one line');
  }
});

t.test('a reader that goes away is no error', async (t) => {
  const started = start(process.cwd(), ['report', join(results(t), 'bad'), '--format', 'html']);
  started.child.stdout.once('data', () => started.child.stdout.destroy());
  t.equal(await started.ended, 0);
  t.equal(started.output.stderr, '');
});
