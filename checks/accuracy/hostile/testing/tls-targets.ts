import { generate } from 'selfsigned';
import { onTheWire } from './good-answers.ts';
import { type Behave, fails, type HostileTarget, hostile } from './hostile-target.ts';

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const DAY = 24 * 60 * 60 * 1000;
const SUBJECT = [{ name: 'commonName', value: 'petstore' }];

/** The authority that signs the certificates of {@link tlsTargets}; nobody trusts it unless a test says so. */
export async function createAuthority(name = 'test authority'): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { key, cert };
}

/** A server's certificate, valid for the days from `from` to `to` (0 is now). */
export async function createCertificate(
  authority: Certificate | undefined,
  { host = '127.0.0.1', from = -1, to = 1 }: { host?: string; from?: number; to?: number } = {},
): Promise<Certificate> {
  const address = /^[\d.]+$/.test(host);
  const { private: key, cert } = await generate(SUBJECT, {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() + from * DAY),
    notAfterDate: new Date(Date.now() + to * DAY),
    ...(authority === undefined ? {} : { ca: authority }),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: [address ? { type: 7, ip: host } : { type: 2, value: host }] },
    ],
  });
  return { key, cert };
}

/** Conforms, behind this certificate. */
const behind =
  ({ key, cert }: Certificate): Behave =>
  (answers) => ({
    tls: { key, cert },
    async request(connection, request) {
      connection.write(onTheWire(await answers(request)));
    },
  });

/** The same target, addressed with the other scheme. */
const withScheme = (scheme: 'http' | 'https', target: HostileTarget): HostileTarget => ({
  ...target,
  async start(upstream) {
    const running = await target.start(upstream);
    return { ...running, url: running.url.replace(/^https?/, scheme) };
  },
});

/** A conforming target whose certificate the authority signed. */
export const trustedTarget = async (authority: Certificate): Promise<HostileTarget> =>
  hostile(
    'has a certificate of this authority',
    { kind: 'response', status: 200 },
    { broken: [], hold: 65 },
    behind(await createCertificate(authority)),
  );

/**
 * Targets with which no secure connection is possible.
 *
 * @param authority signs what is not self-signed; the expectations hold where it is trusted (NODE_EXTRA_CA_CERTS),
 *   where it is not all of them fail for that reason
 */
export async function tlsTargets(authority: Certificate): Promise<readonly HostileTarget[]> {
  const good = await createCertificate(authority);
  const certificates: readonly (readonly [name: string, message: RegExp, certificate: Certificate])[] = [
    ['has a self-signed certificate', /self-signed.*NODE_EXTRA_CA_CERTS/, await createCertificate(undefined)],
    [
      'is behind a proxy that signs for itself',
      /authority is not (trusted|known).*NODE_EXTRA_CA_CERTS/,
      await createCertificate(await createAuthority('proxy')),
    ],
    ['has an expired certificate', /has expired/, await createCertificate(authority, { from: -9, to: -2 })],
    [
      'has a certificate of tomorrow',
      /not valid yet/,
      await createCertificate(authority, { from: 2, to: 9 }),
    ],
    [
      'has the certificate of another host',
      /for another host/,
      await createCertificate(authority, { host: 'other.example' }),
    ],
  ];
  return [
    ...certificates.map(([name, message, certificate]) => fails(name, 'tls', message, behind(certificate))),
    fails('speaks an old TLS only', 'tls', /no version of TLS in common|handshake/, () => ({
      tls: { ...good, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
    })),
    fails('asks for a client certificate', 'tls', /client certificate/, () => ({
      tls: {
        ...good,
        maxVersion: 'TLSv1.2',
        requestCert: true,
        rejectUnauthorized: true,
        ca: authority.cert,
      },
    })),
    withScheme(
      'https',
      fails('does not speak TLS', 'tls', /does not speak TLS/, () => ({
        connected: (connection) => connection.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'),
      })),
    ),
    withScheme(
      'https',
      fails('closes in the TLS handshake', 'tls', /closed it during the TLS handshake/, () => ({
        connected: (connection) => {
          setTimeout(() => connection.end(), 20);
        },
      })),
    ),
    withScheme(
      'https',
      fails('falls silent in the TLS handshake', 'connect-timeout', /no connection within/, () => ({})),
    ),
    withScheme(
      'http',
      fails('speaks TLS at an http address', 'reset', /closed without a response/, behind(good)),
    ),
  ];
}
