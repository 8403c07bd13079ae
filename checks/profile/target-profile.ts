/** What a profile is: the one definition of its type, its JSON Schema and its validation. */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { type Gap, gaps, requirements } from '../../spec/contract.ts';
import { exact, type Frozen, words } from '../../spec/json-schema.ts';
import { PERMISSIONS } from '../../spec/permissions.ts';
import { isCustom, PLAN_NAMES, type PlanLimits, type PlanName } from '../../spec/plans.ts';

export { PLAN_NAMES, type PlanLimits, type PlanName } from '../../spec/plans.ts';

/** What a key may be used for: to pay for ordinary checks, to be driven to 429, to be banned, to feed k6. */
export const KEY_ROLES = ['functional', 'exhaust', 'ban', 'load'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** A field's name as a shell can take it too, and a value that a field carries as it is (RFC 9110, 5.5). */
const HEADER_NAME = '^[A-Za-z0-9._-]{1,100}$';
export const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/;

const part = { additionalProperties: false, default: {} } as const;
const requests = (per: string) =>
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000,
    description: `Requests that the plan admits per ${per}.`,
  });
/** Fields that are named by data, of which none has to be there. */
const byName = <T>(fields: readonly (readonly [name: string, schema: TSchema])[], description: string) =>
  Type.Unsafe<T>(
    Type.Object(Object.fromEntries(fields.map(([name, schema]) => [name, Type.Optional(schema)])), {
      ...part,
      description,
    }),
  );

/** What stands in the form of an answer in angle brackets, as a regular expression. */
const PLACES: Readonly<Record<string, string>> = {
  '<status>': '[1-9]\\d\\d',
  // A time that was over already is told with a sign.
  '<number>': '-?\\d+',
  '<text>': '[\\s\\S]*',
};

/** A regular expression of the answers to a gap that a run may report and a profile may pin. */
const answerPattern = ({ answers, forms, open }: Gap): string =>
  open
    ? '\\S'
    : `^(?:${[...answers, ...forms.map((form) => form.replaceAll(/<\w+>/g, (place) => PLACES[place] ?? ''))].join('|')})$`;

/** Twelve and more characters with small letters and digits are refused: that is what secrets look like. */
export const VARIABLE = '^(?!(?=.*[a-z])(?=.*\\d).{12,})[A-Za-z_][A-Za-z0-9_]{0,127}$';
const text = (description: string, form = {}) =>
  Type.Optional(Type.String({ description, minLength: 1, ...form }));
const secretIn = (description: string) => text(description, { pattern: VARIABLE });

const Header = exact({
  name: Type.String({ description: 'Its name, such as X-Access-Token.', pattern: HEADER_NAME }),
  env: secretIn('The name of the variable that holds its value.'),
  value: text('Its value, where that is no secret.', { pattern: HEADER_VALUE.source }),
});

const Key = exact({
  name: Type.String({
    description:
      "How reports call the key: 1 to 64 letters, digits, '.', '_' and '-'; no two keys have the same.",
    pattern: '^[A-Za-z0-9._-]{1,64}$',
  }),
  plan: words(PLAN_NAMES, "The key's plan (section 8 of the document)."),
  env: Type.String({
    description:
      'The name of the environment variable that holds the key, such as PETSTORE_FREE_KEY; no two keys come from one. Twelve and more characters with small letters and digits are refused: that is what keys look like. If the file was shared with a key in it, replace the key.',
    pattern: VARIABLE,
  }),
  roles: Type.Array(words(KEY_ROLES), {
    description:
      'functional pays for ordinary checks, exhaust may be driven to 429, ban may be banned, load feeds k6.',
    minItems: 1,
    uniqueItems: true,
    default: ['functional'],
  }),
  unusedToday: Type.Boolean({
    description:
      "Nobody has used the key since the target's day began. Without it, fewer requests a day than the plan's are inconclusive unless the target's headers tell.",
    default: false,
  }),
});

export const profileSchema = exact({
  target: Type.Optional(
    Type.String({
      description:
        'Base address with the version segment, http or https, without credentials, query or fragment. Where it is left out, --target names it.',
      examples: ['https://staging.example.com/v1'],
    }),
  ),
  keys: Type.Array(Key, {
    description:
      'The API keys, each as { name: …, plan: free, env: VARIABLE, roles: [functional] }; the file itself holds none.',
    minItems: 1,
  }),
  plans: byName<{ readonly [P in PlanName]?: PlanLimits }>(
    PLAN_NAMES.filter(isCustom).map((plan) => [
      plan,
      exact({ perMinute: requests('minute'), perDay: requests('day') }),
    ]),
    'The limits that the document leaves custom (section 8).',
  ),
  permit: Type.Array(words(PERMISSIONS), {
    description:
      "What a run may do beyond reading: add animals, exhaust a minute's quota, provoke a ban, spend a day's quota.",
    uniqueItems: true,
    default: [],
  }),
  load: Type.Object(
    { allowed: Type.Boolean({ default: false }) },
    { ...part, description: 'Load goes to no address that does not say allowed: true.' },
  ),
  headers: Type.Array(Header, {
    description:
      'What stands before the target wants them with every request, each as { name: X-Access-Token, env: VARIABLE }.',
    default: [],
  }),
  tls: Type.Object(
    {
      ca: text('File of the authorities to trust in place of the machine’s, relative to the profile.'),
      cert: text('File of a client certificate, in PEM.'),
      key: text('File of its private key, in PEM.'),
      passphraseEnv: secretIn('The name of the variable that holds the passphrase of the private key.'),
      serverName: text('The host that the certificate is for, where it is not that of the address.'),
      insecure: Type.Boolean({ default: false, description: 'The certificate is not verified.' }),
    },
    { ...part, description: 'How https is spoken with the target.' },
  ),
  readings: byName<{ readonly [id: string]: 'declined' }>(
    requirements
      .filter(({ reading, excluded }) => reading !== undefined && excluded === undefined)
      .map(({ id, reading }) => [id, words(['declined'], reading)]),
    'What the harness reads into the document and this target does not promise: observed, not failed.',
  ),
  gaps: byName<{ readonly [id: string]: string }>(
    gaps.flatMap((gap) => {
      const { id, question: description, answers, forms, unobservable } = gap;
      const pattern = answerPattern(gap);
      return unobservable === undefined
        ? [[id, Type.String({ description, pattern, examples: [...answers, ...forms] })] as const]
        : [];
    }),
    'Answers to what the document does not show that this target promises: observed always, failed only when pinned here.',
  ),
  rules: Type.Array(Type.String({ minLength: 1 }), {
    description: "Modules with rules of one's own, as paths beside this file: they run with every check.",
    default: [],
  }),
  clock: Type.Object(
    {
      speed: Type.Number({
        description: 'How many times faster than real time it runs; only a simulated target differs from 1.',
        minimum: 1,
        maximum: 100_000,
        default: 1,
      }),
    },
    { ...part, description: "The target's clock." },
  ),
  samples: Type.Object(
    {
      categoryId: Type.Optional(
        Type.Integer({
          description:
            'A categoryId that exists at this target. Without it one that a listed animal has is used, else 1.',
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        }),
      ),
    },
    { ...part, description: 'What a valid addition needs that the document does not say.' },
  ),
});

/** A target and what may be done to it: the file that `--profile` names, after validation, its defaults filled in. */
export type TargetProfile = Frozen<Static<typeof profileSchema>>;

/** One API key of the target, without its value. */
export type ProfileKey = TargetProfile['keys'][number];

/** What holds where a profile does not say otherwise. */
export const PROFILE_DEFAULTS: Omit<TargetProfile, 'target' | 'keys'> = Value.Parse(
  Type.Omit(profileSchema, ['target', 'keys']),
  {},
);
