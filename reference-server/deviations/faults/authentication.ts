import { type ApiKey, bearerToken } from '../../api-keys.ts';
import type { Call } from '../../design.ts';
import type { OperationName } from '../../operations.ts';
import { gating, identifying, withoutKey } from '../admission.ts';
import { answers, errorOf, failing } from '../answers.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { asksForStatus, everyTime, on, where } from '../when.ts';
import { readThoughRefused, storedThoughRefused } from './additions.ts';

/** Who is served without a key; it has requests of its own. */
const STRANGER: ApiKey = { name: 'stranger', plan: 'business' };

const hasEmpty = (call: Call) => /^bearer\s*$/i.test(call.authorization ?? '-');
const hasUnknown = (call: Call) => bearerToken(call.authorization) !== null;

const serving = (who: (call: Call) => boolean, operation?: OperationName): Deviation =>
  identifying((usual, call) => usual ?? (on(operation)(call) && who(call) ? STRANGER : null));

const refusedWith = (status: number, who: (call: Call) => boolean, operation?: OperationName) =>
  failing(status, answers(401, operation), ({ key }) => key === null, who);

/** Takes a request for that of a key which it does not bear as it is to. */
const takingFor = (matches: (value: string, call: Call) => boolean): Deviation =>
  identifying((usual, call) => usual ?? call.service.keys.find(({ value }) => matches(value, call)) ?? null);

/** Takes a token for a key that it is not. */
const taking = (matches: (token: string, value: string) => boolean): Deviation =>
  takingFor((value, call) => matches(bearerToken(call.authorization) ?? '', value));

/** Takes a key from elsewhere in the request. */
const takingFrom = (source: (call: Call) => string | undefined): Deviation =>
  takingFor((value, call) => value === source(call));

/** Takes a key out of an Authorization of another form. */
const takingAs = (form: RegExp): Deviation => takingFrom((call) => form.exec(call.authorization ?? '')?.[1]);

const refusing = (when: (call: Call) => boolean): Deviation =>
  identifying((usual, call) => (usual !== null && when(call) ? null : usual));

const storing = (who: (call: Call) => boolean): Deviation => storedThoughRefused(where(answers(401), who));

/** An addition without a key is refused for its body, where that is invalid too. */
const judgingBody = (who: (call: Call) => boolean): Deviation =>
  readThoughRefused(where(answers(401), who), (read, answer) =>
    'text' in read ? { ...answer, ...errorOf(400) } : answer,
  );

/** A key as the name or the password of basic credentials. */
function basicPassword(call: Call): string | undefined {
  const encoded = /^basic (\S+)$/i.exec(call.authorization ?? '')?.[1] ?? '';
  const parts = Buffer.from(encoded, 'base64').toString().split(':');
  return parts.find((part) => part !== '');
}

const ends = (text: string) => text.slice(0, 8) + text.slice(-4);

/** Section 5: who is let in. */
// biome-ignore format: a table, a line for most faults
export const AUTHENTICATION_FAULTS: DeviationTable = {
  'auth-valid-key': {
    'auth-valid-refused-on-add': refusing(on('createPet')),
    'auth-valid-refused-on-get': refusing(on('getPet')),
    'auth-valid-refused-now-and-then': () => refusing(everyTime(11)),
  },
  'auth-missing-key': {
    'auth-list-open': serving(withoutKey, 'listPets'),
    'auth-add-open': serving(withoutKey, 'createPet'),
    'auth-get-open': serving(withoutKey, 'getPet'),
    'auth-missing-403': refusedWith(403, withoutKey),
    'auth-missing-400-on-add': refusedWith(400, withoutKey, 'createPet'),
    'auth-missing-404-on-get': refusedWith(404, withoutKey, 'getPet'),
    'auth-missing-filtered-list-served': serving((call) => withoutKey(call) && asksForStatus(call), 'listPets'),
    'auth-missing-invalid-body-400': judgingBody(withoutKey),
    'auth-missing-unknown-animal-404': refusedWith(404,
        (call) => withoutKey(call) && call.service.store.find(call.route.petId) === null, 'getPet'),
    'auth-missing-403-in-a-ban': () => {
      let bannedUntil = 0;
      const watching = gating((gate, _key, { now }) => {
        if (gate.refusedBy === 'ban') bannedUntil = now + 10_000;
        return gate;
      });
      return [watching, failing(403, answers(401), withoutKey, ({ now }) => now < bannedUntil)];
    },
  },
  'auth-empty-key': {
    'auth-empty-accepted': serving(hasEmpty),
    'auth-empty-header-accepted': serving((call) => call.authorization === ''),
    'auth-empty-400': refusedWith(400, hasEmpty),
    'auth-empty-500': refusedWith(500, hasEmpty),
    'auth-empty-invalid-body-400': judgingBody(hasEmpty),
  },
  'auth-unknown-key': {
    'auth-any-token-accepted': serving(hasUnknown),
    'auth-any-token-accepted-on-get': serving(hasUnknown, 'getPet'),
    'auth-any-token-accepted-on-add': serving(hasUnknown, 'createPet'),
    'auth-null-accepted': serving((call) => bearerToken(call.authorization) === 'null'),
    'auth-word-of-javascript-accepted': serving((call) => (bearerToken(call.authorization) ?? '') in {}),
    'auth-undefined-accepted': serving((call) => bearerToken(call.authorization) === 'undefined'),
    'auth-non-ascii-500': refusedWith(500, (call) => /[\x80-\xff]/.test(call.authorization ?? '')),
    'auth-unknown-403': refusedWith(403, hasUnknown),
    'auth-unknown-500-on-list': refusedWith(500, hasUnknown, 'listPets'),
    'auth-every-third-accepted': () => {
      const isDue = everyTime(3);
      return serving((call) => hasUnknown(call) && isDue());
    },
  },
  'auth-near-miss-key': {
    'auth-ignores-case': taking((token, value) => token.toLowerCase() === value.toLowerCase()),
    'auth-ignores-what-follows': taking((token, value) => token.startsWith(value)),
    'auth-padding-ignored': taking((token, value) => token.replace(/=+$/, '') === value),
    'auth-quotes-ignored': taking((token, value) => token === `"${value}"`),
    'auth-word-behind-ignored': taking((token, value) => token.split(' ')[0] === value),
    'auth-beginning-suffices': taking((token, value) => token.length >= 12 && value.startsWith(token)),
    'auth-ignores-first-character':
      taking((token, value) => token.length === value.length && token.slice(1) === value.slice(1)),
    'auth-missing-last-suffices': taking((token, value) => token === value.slice(0, -1)),
    'auth-missing-first-suffices': taking((token, value) => token === value.slice(1)),
    'auth-ignores-last-character':
      taking((token, value) => token.length === value.length && token.slice(0, -1) === value.slice(0, -1)),
    'auth-ends-suffice':
      taking((token, value) => token.length === value.length && ends(token) === ends(value)),
  },
  'auth-other-scheme': {
    'auth-basic-accepted': takingFrom(basicPassword),
    'auth-basic-scheme-name-accepted': takingAs(/^basic (\S+)$/i),
    'auth-token-scheme-accepted': takingAs(/^(?!basic|bearer|digest)\w+ (\S+)$/i),
    'auth-api-key-scheme-accepted': takingAs(/^apikey (\S+)$/i),
    'auth-scheme-beginning-accepted': takingAs(/^bearer\S* +(\S+)$/i),
    'auth-bare-key-accepted': takingAs(/^(\S+)$/),
    'auth-bearer-without-space-accepted': takingAs(/^bearer(\S+)$/i),
    'auth-api-key-header-accepted': takingFrom((call) => String(call.request.headers['x-api-key'] ?? '')),
    'auth-cookie-accepted':
      takingFrom((call) => /(?:^|; )token=([^;]+)/.exec(call.request.headers.cookie ?? '')?.[1]),
    'auth-query-accepted':
      takingFrom(({ route }) => new URLSearchParams(route.search).get('api_key') ?? undefined),
    'auth-any-scheme-accepted': takingAs(/(\S+)$/),
  },
  'auth-refused-adds-nothing': {
    'auth-missing-stored': storing(withoutKey),
    'auth-unknown-stored': storing(hasUnknown),
  },
};
