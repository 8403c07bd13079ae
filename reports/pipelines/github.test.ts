import t from 'tap';
import { FORMATS } from '../formats.ts';
import { hostileReport, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from '../testing/sample-reports.ts';

const renderGithubAnnotations = FORMATS.github.render;

interface Annotation {
  readonly command: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/** Reads workflow commands by the rules of GitHub's runner (ActionCommand.TryParseV2, its unescaping included). */
function read(text: string): (Annotation | string)[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const end = line.indexOf('::', 2);
      if (!line.startsWith('::') || end < 0) return line;
      const [head = '', ...rest] = line.slice(2, end).split(' ');
      const unescaped = (value: string) =>
        value.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
      const pairs = rest
        .join(' ')
        .split(',')
        .map((pair) => {
          const [name = '', ...value] = pair.split('=');
          return [name, unescaped(value.join('=').replaceAll('%3A', ':').replaceAll('%2C', ','))] as const;
        });
      return {
        command: head,
        properties: Object.fromEntries(pairs),
        message: unescaped(line.slice(end + 2)),
      };
    });
}

t.test('the runner reads an annotation for each trouble', async (t) => {
  const annotations = read(renderGithubAnnotations(notConformantReport()));
  const kinds = annotations.map((one) => (typeof one === 'string' ? one : one.command));
  t.strictSame(kinds, ['error', 'error', 'error', 'error', 'error', 'error', 'notice']);
  t.match(annotations[0], {
    properties: { title: 'error-status-matches (2) Error.status repeats the HTTP status' },
    message:
      /^The field status[\s\S]*\nWhat came back: Error\.status is 200, the HTTP status of the response is 404\n/,
  });
  t.match(
    annotations[3],
    { properties: { title: /Pro is 300 requests a minute, no fewer, no more$/ } },
    'commas stay',
  );
});

t.test('rows that share a reason share a warning, since GitHub shows ten', async (t) => {
  const annotations = read(renderGithubAnnotations(inconclusiveReport()));
  t.equal(annotations.length, 2);
  t.match(annotations[0], { command: 'error', message: 'The run ended early: SIGINT' });
  t.match(annotations[1], {
    command: 'warning',
    properties: { title: 'Not verified: 27 requirements' },
  });
});

t.test('percent signs arrive as they were', async (t) => {
  const report = notConformantReport();
  const requirements = report.requirements.map((row) => ({
    ...row,
    title: 'a%3Ab',
    reason: '50 %0A::error::x',
  }));
  const [first] = read(renderGithubAnnotations({ ...report, requirements }));
  t.match(first, {
    properties: { title: /a%3Ab$/ },
    message: /^50 %0A::error::x; asked for: Error\.status is 404.*\nThe document asks: The status field/,
  });
});

t.test('a conformant run is silent', async (t) => {
  t.equal(renderGithubAnnotations(conformantReport()), '');
});

t.test('hostile text injects no command', async (t) => {
  const text = renderGithubAnnotations(hostileReport());
  t.notMatch(text, UNSEEN_CHARACTER);
  const annotations = read(text);
  for (const one of annotations) {
    t.match(one, { command: /^(error|warning|notice)$/ });
    if (typeof one !== 'string') t.strictSame(Object.keys(one.properties), ['title']);
  }
});
