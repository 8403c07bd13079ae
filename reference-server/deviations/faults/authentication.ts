import { type ApiKey, bearerToken } from '../../api-keys.ts';
import type { Call, Route } from '../../call.ts';
import { type Personality, together } from '../personality.ts';
import {
  admitting,
  answers,
  asksForStatus,
  everyTime,
  failing,
  identifying,
  where,
  withError,
} from '../shapes.ts';
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

/** Takes a key out of an Authorization of another form. */
const takingAs = (form: RegExp): Personality =>
  takingFrom((call) => form.exec(call.authorization ?? '')?.[1]);

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
// biome-ignore format: a table, a line for most faults
export const AUTHENTICATION_FAULTS: FaultTable = {
  'auth-valid-key': {
    'auth-valid-refused-on-add': refusing((_key, call) => call.route.operation === 'createPet'),
    'auth-valid-refused-on-get': refusing((_key, call) => call.route.operation === 'getPet'),
    'auth-valid-refused-now-and-then': () => refusing(everyTime(11)),
  },
  'auth-missing-key': {
    'auth-list-open': serving(hasNone, 'listPets'),
    'auth-add-open': serving(hasNone, 'createPet'),
    'auth-get-open': serving(hasNone, 'getPet'),
    'auth-missing-403': refusedWith(403, hasNone),
    'auth-missing-400-on-add': refusedWith(400, hasNone, 'createPet'),
    'auth-missing-404-on-get': refusedWith(404, hasNone, 'getPet'),
    'auth-missing-filtered-list-served': serving((call) => hasNone(call) && asksForStatus(call), 'listPets'),
    'auth-missing-invalid-body-400': judgingBody(hasNone),
    'auth-missing-unknown-animal-404': ({ store }) => refusedWith(404, (call) =>
        hasNone(call) && call.route.operation === 'getPet' && store.find(call.route.petId) === null),
    // While any key is banned, a request without one is refused with 403.
    'auth-missing-403-in-a-ban': () => {
      let bannedUntil = 0;
      return together(admitting((usual, key, call) => {
        const gate = usual(key, call);
        if (gate.refusedBy === 'ban') bannedUntil = call.now + 10_000;
        return gate;
      }), failing(403, where(answers(401), ({ authorization, now }) => authorization === null && now < bannedUntil)));
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
    'auth-undefined-accepted': serving((call) => bearerToken(call.authorization) === 'undefined'),
    'auth-non-ascii-500': refusedWith(500, (call) => /[\x80-\xff]/.test(call.authorization ?? '')),
    'auth-unknown-403': refusedWith(403, hasUnknown),
    'auth-unknown-500-on-list': refusedWith(500, hasUnknown, 'listPets'),
    // Every third request with an invalid token is served.
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
    'auth-missing-stored': storing(hasNone),
    'auth-unknown-stored': storing(hasUnknown),
  },
};
