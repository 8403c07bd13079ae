import { execFileSync } from 'node:child_process';
import t from 'tap';
import { curl } from './curl.ts';
import { REDACTED } from './redaction.ts';
import { type AnswerParts, answered } from './testing/answered.ts';

const BASE = 'https://staging.example.com/v1';
const HEADERS = [
  ['accept', 'application/json'],
  ['user-agent', 'petstore-harness/0.1.0'],
  ['authorization', 'Bearer [key free-1]'],
] as const;

/** The arguments that a shell makes of the command, the variable set to a key. */
function shellArguments(parts: AnswerParts, env: string | undefined = 'PETSTORE_FREE_KEY'): string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }\n${curl(answered(parts), BASE, env)}`;
  const printed = execFileSync('/bin/sh', ['-c', script], {
    env: { PETSTORE_FREE_KEY: 'the key itself' },
    encoding: 'utf8',
  });
  return printed.split('\0').slice(0, -1);
}

t.test(
  'a list: the key from its variable, the address, no header that the service does not need',
  async (t) => {
    t.equal(
      curl(answered({ path: '/pets?limit=1', requestHeaders: HEADERS }), BASE, 'PETSTORE_FREE_KEY'),
      `curl -i -H "Authorization: Bearer $PETSTORE_FREE_KEY" 'https://staging.example.com/v1/pets?limit=1'`,
    );
    t.strictSame(shellArguments({ requestHeaders: HEADERS }), [
      '-i',
      '-H',
      'Authorization: Bearer the key itself',
      `${BASE}/pets`,
    ]);
  },
);

t.test('an addition: method, media type and body reach curl as they were sent', async (t) => {
  const requestBody = `{"name":"O'Malley $(id) \`id\` \\n \\\\","categoryId":1}\n`;
  t.strictSame(
    shellArguments({
      method: 'POST',
      requestBody,
      requestHeaders: [['Content-Type', 'application/json; a="b\'c"'], ...HEADERS],
    }),
    [
      '-i',
      '-X',
      'POST',
      '-H',
      `Content-Type: application/json; a="b'c"`,
      '-H',
      'Authorization: Bearer the key itself',
      '--data-binary',
      requestBody,
      `${BASE}/pets`,
    ],
  );
});

t.test('an empty body is a body', async (t) => {
  t.strictSame(shellArguments({ method: 'POST', requestBody: '' }).slice(3), [
    '--data-binary',
    '',
    `${BASE}/pets`,
  ]);
});

t.test('what nobody can derive from a key is described, and nothing of it expands', async (t) => {
  const requestHeaders = [
    ['accept', 'application/json'],
    ['Authorization', 'Bearer <$HOME with its last character changed>'],
  ] as const;
  t.strictSame(
    curl(answered({ key: null, requestHeaders }), BASE, undefined, 'PETSTORE_FREE_KEY'),
    `curl -i -H 'Authorization: Bearer <$HOME with its last character changed>' '${BASE}/pets'`,
  );
  t.strictSame(shellArguments({ key: null }, undefined), ['-i', `${BASE}/pets`]);
});

t.test('a key elsewhere than it belongs is sent there', async (t) => {
  const requestHeaders = [
    ['accept', 'application/json'],
    ['x-api-key', REDACTED],
    ['cookie', `api_key=${REDACTED}; token=${REDACTED}`],
  ] as const;
  const path = `/pets?limit=1&api_key=${REDACTED}`;
  const command = curl(answered({ key: null, path, requestHeaders }), BASE, undefined, 'PETSTORE_FREE_KEY');
  t.match(command, `"${BASE}/pets?limit=1&api_key=$PETSTORE_FREE_KEY"`);
  t.match(command, `-H "cookie: api_key=$PETSTORE_FREE_KEY; token=$PETSTORE_FREE_KEY"`);
  t.match(command, `-H "x-api-key: $PETSTORE_FREE_KEY"`);
});

t.test('a path that a shell would take apart stays one argument', async (t) => {
  t.equal(shellArguments({ path: "/pets/1;rm 'x'&y=$(z)" }).at(-1), `${BASE}/pets/1;rm 'x'&y=$(z)`);
});

t.test('an Accept of its own, or none, is what curl sends too', async (t) => {
  t.strictSame(shellArguments({ requestHeaders: [['accept', '*/*']] }), [
    '-i',
    '-H',
    'accept: */*',
    `${BASE}/pets`,
  ]);
  t.strictSame(shellArguments({ requestHeaders: [['user-agent', 'petstore-harness/0.1.0']] }), [
    '-i',
    '-H',
    'Accept:',
    `${BASE}/pets`,
  ]);
});
