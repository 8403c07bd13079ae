import { generate } from 'selfsigned';
import { onTheWire } from './good-answers.ts';
import { failure, type HostileTarget, hostile, response } from './hostile-target.ts';

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
async function createCertificate(
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

/** A conforming target behind this certificate. */
function behind(name: string, expected: HostileTarget['expected'], certificate: Certificate): HostileTarget {
  return hostile(name, expected, (answers) => ({
    tls: { key: certificate.key, cert: certificate.cert },
    async request(connection, request) {
      connection.write(onTheWire(await answers(request)));
    },
  }));
}

/** The same target, addressed with the other scheme. */
function withScheme(scheme: 'http' | 'https', target: HostileTarget): HostileTarget {
  return {
    ...target,
    async start(upstream) {
      const running = await target.start(upstream);
      return { ...running, url: running.url.replace(/^https?/, scheme) };
    },
  };
}

/** A conforming target whose certificate the authority signed. */
export async function trustedTarget(authority: Certificate): Promise<HostileTarget> {
  const certificate = await createCertificate(authority);
  return behind('has a certificate of this authority', response({ status: 200 }), certificate);
}

/**
 * Targets with which no secure connection is possible.
 *
 * @param authority signs what is not self-signed; the expectations hold where it is trusted (NODE_EXTRA_CA_CERTS),
 *   where it is not all of them fail for that reason
 */
export async function tlsTargets(authority: Certificate): Promise<readonly HostileTarget[]> {
  const good = await createCertificate(authority);
  const asksForCertificate = (maxVersion: 'TLSv1.2' | 'TLSv1.3') =>
    hostile(`asks for a client certificate in ${maxVersion}`, failure('tls', /client certificate/), () => ({
      tls: { ...good, maxVersion, requestCert: true, rejectUnauthorized: true, ca: authority.cert },
    }));
  const plain = hostile('does not speak TLS', failure('tls', /does not speak TLS/), () => ({
    connected: (connection) => connection.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'),
  }));
  return [
    behind(
      'has a self-signed certificate',
      failure('tls', /self-signed.*NODE_EXTRA_CA_CERTS/),
      await createCertificate(undefined),
    ),
    behind(
      'is behind a proxy that signs for itself',
      failure('tls', /authority is not (trusted|known).*NODE_EXTRA_CA_CERTS/),
      await createCertificate(await createAuthority('proxy')),
    ),
    behind(
      'has an expired certificate',
      failure('tls', /has expired/),
      await createCertificate(authority, { from: -9, to: -2 }),
    ),
    behind(
      'has a certificate of tomorrow',
      failure('tls', /not valid yet/),
      await createCertificate(authority, { from: 2, to: 9 }),
    ),
    behind(
      'has the certificate of another host',
      failure('tls', /for another host/),
      await createCertificate(authority, { host: 'other.example' }),
    ),
    hostile('speaks an old TLS only', failure('tls', /no version of TLS in common|handshake/), () => ({
      tls: { ...good, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
    })),
    asksForCertificate('TLSv1.2'),
    asksForCertificate('TLSv1.3'),
    withScheme('https', plain),
    withScheme(
      'https',
      hostile('closes in the TLS handshake', failure('tls', /closed it during the TLS handshake/), () => ({
        connected: (connection) => {
          setTimeout(() => connection.end(), 20);
        },
      })),
    ),
    withScheme(
      'https',
      hostile(
        'falls silent in the TLS handshake',
        failure('connect-timeout', /no connection within/),
        () => ({}),
      ),
    ),
    withScheme('http', {
      ...behind('speaks TLS at an http address', failure('reset', /closed without a response/), good),
    }),
  ];
}
