import { type ApiKey, bearerToken } from '../../api-keys.ts';
import type { Call, Route } from '../../call.ts';
import { type Personality, together } from '../personality.ts';
import { admitting, answers, asksForStatus, failing, identifying, where, withError } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { readThoughRefused, storedThoughRefused } from './refused-additions.ts';

/** Who is served without a key; it has requests of its own. */
const STRANGER: ApiKey = { name: 'stranger', plan: 'business' };

const hasNone = (call: Call) => call.authorization === null;
const hasEmpty = (call: Call) => /^bearer\s*$/i.test(call.authorization ?? '-');
const hasUnknown = (call: Call) => bearerToken(call.authorization) !== null;

const serving = (who: (call: Call) => boolean, operation?: Route['operation']): Personality =>
  identifying((usual, call) => {
    if (usual !== null || (operation !== undefined && call.route.operation !== operation)) return usual;
    return who(call) ? STRANGER : null;
  });

const refusedWith = (status: number, who: (call: Call) => boolean, operation?: Route['operation']) =>
  failing(
    status,
    where(answers(401, operation), (call) => call.key === null && who(call)),
  );

/** Takes a token for a key that it is not. */
const taking = (matches: (token: string, value: string) => boolean): Personality =>
  identifying((usual, call, _parts, { keys }) => {
    const token = bearerToken(call.authorization);
    if (usual !== null || token === null) return usual;
    const key = keys.find(({ value }) => matches(token, value));
    return key === undefined ? null : { name: key.name, plan: key.plan };
  });

/** Takes a key from elsewhere in the request. */
const takingFrom = (source: (call: Call) => string | undefined): Personality =>
  identifying((usual, call, parts) => {
    const token = usual === null ? source(call) : undefined;
    return token === undefined || token === '' ? usual : parts.findKey(token);
  });

const refusing = (when: (key: ApiKey, call: Call) => boolean): Personality =>
  identifying((usual, call) => (usual !== null && when(usual, call) ? null : usual));

const storing = (who: (call: Call) => boolean): Personality =>
  storedThoughRefused((answer, call) => answer.status === 401 && who(call));

/** An addition without a key is refused for its body, where that is invalid too. */
const judgingBody = (who: (call: Call) => boolean): Personality =>
  readThoughRefused(
    (answer, call) => answer.status === 401 && who(call),
    (read, answer) => ('problem' in read ? withError(answer, 400) : answer),
  );

function basicPassword(call: Call): string | undefined {
  const encoded = /^basic (\S+)$/i.exec(call.authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  return Buffer.from(encoded, 'base64')
    .toString()
    .split(':')
    .find((part) => part !== '');
}

const ends = (text: string) => text.slice(0, 8) + text.slice(-4);

/** Section 5: who is let in. */
// biome-ignore format: a table, a line or two for each fault
export const AUTHENTICATION_FAULTS: FaultTable = {
  'auth-valid-key': {
    'auth-valid-refused-on-add': ['A valid key is refused with 401 on additions.',
      refusing((_key, call) => call.route.operation === 'createPet')],
    'auth-valid-refused-on-get': ['A valid key is refused with 401 on retrievals.',
      refusing((_key, call) => call.route.operation === 'getPet')],
    'auth-valid-refused-now-and-then': ['Every eleventh request with a valid key is refused with 401.',
      () => {
        let times = 0;
        return refusing(() => ++times % 11 === 0);
      }],
  },
  'auth-missing-key': {
    'auth-list-open': ['Listing needs no key.', serving(hasNone, 'listPets')],
    'auth-add-open': ['Adding needs no key.', serving(hasNone, 'createPet')],
    'auth-get-open': ['Retrieving needs no key.', serving(hasNone, 'getPet')],
    'auth-missing-403': ['A missing key is refused with 403.', refusedWith(403, hasNone)],
    'auth-missing-400-on-add': ['A missing key is refused with 400 on additions.',
      refusedWith(400, hasNone, 'createPet')],
    'auth-missing-404-on-get': ['A missing key is answered with 404 on retrievals.',
      refusedWith(404, hasNone, 'getPet')],
    'auth-missing-filtered-list-served': ['A list with a status needs no key.',
      serving((call) => hasNone(call) && asksForStatus(call), 'listPets')],
    'auth-missing-invalid-body-400': [
      'An addition without a key is answered 400 where its body is invalid too.',
      judgingBody(hasNone)],
    'auth-missing-unknown-animal-404': ['Without a key, an unknown animal is not found.',
      ({ store }) => refusedWith(404, (call) =>
        hasNone(call) && call.route.operation === 'getPet' && store.find(call.route.petId) === null)],
    'auth-missing-403-in-a-ban': ['While any key is banned, a request without one is refused with 403.', () => {
      let bannedUntil = 0;
      return together(admitting((usual, key, call) => {
        const gate = usual(key, call);
        if (gate.refusedBy === 'ban') bannedUntil = call.now + 10_000;
        return gate;
      }), failing(403, where(answers(401), ({ authorization, now }) => authorization === null && now < bannedUntil)));
    }],
  },
  'auth-empty-key': {
    'auth-empty-accepted': ['An empty bearer token is accepted.', serving(hasEmpty)],
    'auth-empty-header-accepted': ['An empty Authorization header is accepted.',
      serving((call) => call.authorization === '')],
    'auth-empty-400': ['An empty bearer token is refused with 400.', refusedWith(400, hasEmpty)],
    'auth-empty-500': ['An empty bearer token is answered with 500.', refusedWith(500, hasEmpty)],
    'auth-empty-invalid-body-400': [
      'An addition with an empty bearer token is answered 400 where its body is invalid too.',
      judgingBody(hasEmpty)],
  },
  'auth-unknown-key': {
    'auth-any-token-accepted': ['Any token is accepted.', serving(hasUnknown)],
    'auth-any-token-accepted-on-get': ['Any token is accepted on retrievals.', serving(hasUnknown, 'getPet')],
    'auth-any-token-accepted-on-add': ['Any token is accepted on additions.',
      serving(hasUnknown, 'createPet')],
    'auth-null-accepted': ['The token null is accepted.',
      serving((call) => bearerToken(call.authorization) === 'null')],
    'auth-undefined-accepted': ['The token undefined is accepted.',
      serving((call) => bearerToken(call.authorization) === 'undefined')],
    'auth-non-ascii-500': ['A token with a character beyond ASCII is answered with 500.',
      refusedWith(500, (call) => /[\x80-\xff]/.test(call.authorization ?? ''))],
    'auth-unknown-403': ['An unknown key is refused with 403.', refusedWith(403, hasUnknown)],
    'auth-unknown-500-on-list': ['An unknown key is answered with 500 on lists.',
      refusedWith(500, hasUnknown, 'listPets')],
    'auth-every-third-accepted': ['Every third request with an invalid token is served.', () => {
      let refused = 0;
      return serving((call) => hasUnknown(call) && ++refused % 3 === 0);
    }],
  },
  'auth-near-miss-key': {
    'auth-ignores-case': ['Keys are compared without case.',
      taking((token, value) => token.toLowerCase() === value.toLowerCase())],
    'auth-ignores-what-follows': ['What follows a valid key is ignored.',
      taking((token, value) => token.startsWith(value))],
    'auth-padding-ignored': ['Equals signs at the end of a key are cut off.',
      taking((token, value) => token.replace(/=+$/, '') === value)],
    'auth-quotes-ignored': ['Quotes around a key are cut off.',
      taking((token, value) => token === `"${value}"`)],
    'auth-word-behind-ignored': ['Of what follows Bearer only the first word is compared.',
      taking((token, value) => token.split(' ')[0] === value)],
    'auth-beginning-suffices': ['The first twelve characters of a key suffice.',
      taking((token, value) => token.length >= 12 && value.startsWith(token))],
    'auth-ignores-first-character': ['The first character of a key is not compared.',
      taking((token, value) => token.length === value.length && token.slice(1) === value.slice(1))],
    'auth-missing-last-suffices': ['A key without its last character is accepted.',
      taking((token, value) => token === value.slice(0, -1))],
    'auth-missing-first-suffices': ['A key without its first character is accepted.',
      taking((token, value) => token === value.slice(1))],
    'auth-ignores-last-character': ['The last character of a key is not compared.',
      taking((token, value) => token.length === value.length && token.slice(0, -1) === value.slice(0, -1))],
    'auth-ends-suffice': ['Of a key the first eight and the last four characters are compared.',
      taking((token, value) => token.length === value.length && ends(token) === ends(value))],
  },
  'auth-other-scheme': {
    'auth-basic-accepted': ['A key is accepted under Basic, as user or password.', takingFrom(basicPassword)],
    'auth-basic-scheme-name-accepted': ['A key is accepted as it is behind the word Basic.',
      takingFrom((call) => /^basic (\S+)$/i.exec(call.authorization ?? '')?.[1])],
    'auth-token-scheme-accepted': ['A key is accepted behind any word that is no known scheme.',
      takingFrom((call) => /^(?!basic|bearer|digest)\w+ (\S+)$/i.exec(call.authorization ?? '')?.[1])],
    'auth-api-key-scheme-accepted': ['A key is accepted behind the word ApiKey.',
      takingFrom((call) => /^apikey (\S+)$/i.exec(call.authorization ?? '')?.[1])],
    'auth-scheme-beginning-accepted': ['A key is accepted behind any word that begins with Bearer.',
      takingFrom((call) => /^bearer\S* +(\S+)$/i.exec(call.authorization ?? '')?.[1])],
    'auth-bare-key-accepted': ['A key is accepted without a scheme.',
      takingFrom((call) => /^\S+$/.exec(call.authorization ?? '')?.[0])],
    'auth-bearer-without-space-accepted': ['A key is accepted right behind the word Bearer.',
      takingFrom((call) => /^bearer(\S+)$/i.exec(call.authorization ?? '')?.[1])],
    'auth-api-key-header-accepted': ['A key is accepted in the header X-Api-Key.',
      takingFrom((call) => String(call.request.headers['x-api-key'] ?? ''))],
    'auth-cookie-accepted': ['A key is accepted in a cookie.',
      takingFrom((call) => /(?:^|; )token=([^;]+)/.exec(call.request.headers.cookie ?? '')?.[1])],
    'auth-query-accepted': ['A key is accepted in the query, as api_key.',
      takingFrom(({ route }) => new URLSearchParams(route.search).get('api_key') ?? undefined)],
    'auth-any-scheme-accepted': ['The scheme is not looked at.',
      takingFrom((call) => /(\S+)$/.exec(call.authorization ?? '')?.[1])],
  },
  'auth-refused-adds-nothing': {
    'auth-missing-stored': ['An addition without a key is refused, and stored.', storing(hasNone)],
    'auth-unknown-stored': ['An addition with an unknown key is refused, and stored.', storing(hasUnknown)],
  },
};
