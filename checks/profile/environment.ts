/** What a profile takes from the environment, and from the files that it names: keys, headers, certificates, proxies. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { BlockList, isIPv4 } from 'node:net';
import { limitsOf } from '../../spec/plans.ts';
import type { Access } from '../wire/access.ts';
import { isLoopback } from '../wire/base-address.ts';
import { fileText } from './file-text.ts';
import type { Key } from './key.ts';
import { looksLikeProduction } from './production-address.ts';
import { HEADER_VALUE, type TargetProfile } from './target-profile.ts';
import { UsageError } from './usage-error.ts';

/** Visible ASCII: what a bearer token may consist of, and some more that servers accept (RFC 6750, 2.1). */
const HEADER_SAFE = /^[\x21-\x7e]{1,4096}$/;
/** Shorter keys cannot be told from the ordinary words and numbers of a report. */
const TOLD_FROM_WORDS = /^(?!\d{1,7}$).{4,}$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is wrong with what a variable holds, and how to correct it; the value itself is not told. */
export function problemOf(
  env: Environment,
  variable: string,
  what: string,
  form = HEADER_SAFE,
): string | undefined {
  const value = env[variable];
  const isWrong = (how: string) => `${variable}, which holds the ${what}, ${how}`;
  if (value === undefined || value === '')
    return isWrong(`is ${value === '' ? 'empty' : 'not set'}; set it: export ${variable}=…`);
  if (!form.test(value))
    return isWrong(
      'has a character that a header cannot carry, or more than 4,096; set it to the value alone',
    );
  if (!TOLD_FROM_WORDS.test(value))
    return isWrong(
      'has fewer than 4 characters, or fewer than 8 digits: it would look like a word or number of a report, and could not be redacted; choose a longer value',
    );
  return undefined;
}

/**
 * Takes the values of a profile's keys from the environment, as far as they are there.
 *
 * @returns the values by key name
 * @throws UsageError for each key that is invalid: it names the key and its variable, no value
 */
export function keyValues(
  { keys }: Pick<TargetProfile, 'keys'>,
  env: Environment,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const problems = keys.flatMap((key) => {
    const value = env[key.env];
    if (value === undefined) return [];
    const [twin] = [...values].find(([, other]) => other === value) ?? [];
    values.set(key.name, value);
    const twice = `${key.env}, which holds the key ${key.name}, has the same key as ${twin}; name a key once, with all its roles: the two would spend one quota`;
    return problemOf(env, key.env, `key ${key.name}`) ?? (twin === undefined ? [] : twice);
  });
  if (problems.length > 0) throw new UsageError(...problems);
  return values;
}

/** The keys of a validated profile that are no load keys alone, with their values and their plans' numbers. */
export function profileKeys(profile: TargetProfile, values: ReadonlyMap<string, string>): Key[] {
  return profile.keys.flatMap((key) => {
    const value = values.get(key.name);
    if (value === undefined || key.roles.every((role) => role === 'load')) return [];
    const limits = limitsOf(key.plan, profile.plans);
    if (limits === undefined) throw new Error(`a key without plans.${key.plan} got past the validation`);
    return [{ ...key, value, limits }];
  });
}

/**
 * How a target is reached: values of headers, certificates, the private key. Proxies are those of the environment.
 *
 * @throws UsageError that names what is missing or cannot be used, and tells no value
 */
export function accessOf({ headers, tls }: ReachedBy, target: string, env: Environment): Access {
  const problems = headers.flatMap(
    ({ name, env: variable }) => (variable && problemOf(env, variable, `header ${name}`, HEADER_VALUE)) || [],
  );
  if (problems.length > 0) throw new UsageError(...problems);
  const proxy = proxyFor(new URL(target), env);
  const { username = '', password = '' } = proxy ?? {};
  const hidden = headers.flatMap(({ env: variable }) => env[variable ?? ''] ?? []);
  const passphrase = env[tls.passphraseEnv ?? ''];
  return {
    headers: headers.map(({ name, value = '', env: variable }) => ({
      name,
      value: variable === undefined ? value : (env[variable] ?? ''),
      env: variable,
    })),
    tls: tlsOf(tls, new URL(target), passphrase),
    proxy,
    secrets: [
      // A part of it may be echoed alone: the word after a scheme, the value of a cookie.
      ...hidden.flatMap((value) => [value, ...value.split(/[\s;,=]+/).filter(({ length }) => length >= 8)]),
      ...[password, decodeURIComponent(password), `${username}:${password}`, passphrase ?? ''],
    ].filter((secret) => TOLD_FROM_WORDS.test(secret)),
  };
}

type ReachedBy = Pick<TargetProfile, 'headers' | 'tls'>;

function tlsOf(tls: ReachedBy['tls'], url: URL, passphrase: string | undefined): Access['tls'] {
  const { ca, cert, key, passphraseEnv, serverName: servername, insecure } = tls;
  if (insecure && looksLikeProduction(url))
    throw new UsageError(
      `${url.hostname} may be in production use, where tls.insecure is refused: name its authority in tls.ca`,
    );
  const opened = passphraseEnv === undefined ? 'without a passphrase' : `with that in ${passphraseEnv}`;
  const secret = parsed(key, `private key that opens ${opened}`, 'tls.key and tls.passphraseEnv', (text) =>
    createPrivateKey({ key: text, ...(passphrase === undefined ? {} : { passphrase }) }),
  );
  const own = parsed(cert, 'certificate', 'tls.cert', (text) => new X509Certificate(text));
  if (secret !== undefined && own?.checkPrivateKey(secret) === false)
    throw new UsageError(`${key}: belongs to another certificate than ${cert}; name its own in tls.key`);
  parsed(ca, 'certificate', 'tls.ca', (text) => new X509Certificate(text));
  return {
    ...{ ca: ca && fileText(ca), cert: cert && fileText(cert), servername },
    key: secret?.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ...(insecure ? { rejectUnauthorized: false } : {}),
  };
}

function parsed<T>(file: string | undefined, what: string, field: string, parse: (text: string) => T) {
  if (file === undefined) return undefined;
  const text = fileText(file, `correct ${field}`);
  try {
    return parse(text);
  } catch {
    throw new UsageError(`${file}: holds no ${what}, in PEM; correct ${field}`);
  }
}

/**
 * The proxy of the environment for an address, as k6 chooses it: never one for this machine itself.
 *
 * @throws UsageError for a variable that names none
 */
function proxyFor({ protocol, hostname, port }: URL, env: Environment): URL | undefined {
  const either = (name: string) => env[name] || env[name.toLowerCase()] || '';
  const name = `${protocol.slice(0, -1).toUpperCase()}_PROXY`;
  const place = `.${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  const isSpared = either('NO_PROXY')
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && spares(entry, hostname, place));
  const text = either(name);
  if (text === '' || isLoopback(hostname) || isSpared) return undefined;
  const address = text.includes('://') ? text : `http://${text}`;
  if (URL.canParse(address) && /^https?:/i.test(address)) return new URL(address);
  throw new UsageError(`${name} names no http:// or https:// proxy; write it like http://proxy:3128`);
}

/** Whether an entry of NO_PROXY is about a host: a network, a name and those below it, an address, each with a port, `*`. */
function spares(entry: string, host: string, place: string): boolean {
  const [network = '', prefix = '33'] = entry.split('/');
  if (isIPv4(host) && isIPv4(network) && Number(prefix) <= 32) {
    const list = new BlockList();
    list.addSubnet(network, Number(prefix));
    return list.check(host);
  }
  const name = `.${entry.toLowerCase().replace(/^\*?\./, '')}`;
  return entry === '*' || place.endsWith(name) || place.replace(/:\d+$/, '').endsWith(name);
}
