/** How a target is reached, by its profile and the environment. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { BlockList, isIPv4 } from 'node:net';
import type { Access } from '../wire/access.ts';
import { isLoopback } from '../wire/base-address.ts';
import { fileText } from './file-text.ts';
import { type Environment, problemOf, TOLD_FROM_WORDS } from './key-values.ts';
import { looksLikeProduction } from './production-address.ts';
import { HEADER_VALUE, type TargetProfile } from './target-profile.ts';
import { UsageError } from './usage-error.ts';

/**
 * Reads what the profile names: values of headers, certificates, the private key. Proxies are those of the environment.
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
export function proxyFor({ protocol, hostname, port }: URL, env: Environment): URL | undefined {
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
