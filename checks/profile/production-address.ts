import { BlockList, isIP } from 'node:net';

/** A label of a host name or path that says that nobody's live animals are behind it. */
const TEST_LABEL =
  /^(?:staging|stage|stg|test|tests|testing|tst|dev|devel|development|qa|sandbox|preprod|preproduction|uat|demo|local|localhost)\d*$/;

const PRIVATE = new BlockList();
PRIVATE.addSubnet('127.0.0.0', 8);
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);
PRIVATE.addSubnet('169.254.0.0', 16);
PRIVATE.addAddress('0.0.0.0');
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addAddress('::', 'ipv6');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');

/**
 * Whether an address may be one that customers use: neither this machine nor a private network, and no word in host or
 * path that marks it as a place for tests. Errs towards yes, for the answer costs one explicit word.
 */
export function looksLikeProduction(url: URL): boolean {
  const host = url.hostname.replace(/[[\]]/g, '');
  const family = isIP(host);
  if (family !== 0 && PRIVATE.check(host, family === 6 ? 'ipv6' : 'ipv4')) return false;
  const labels = `${host}/${url.pathname}`.toLowerCase().split(/[./_-]/);
  // A host name without a dot resolves in this machine's network only.
  if (family === 0 && !host.replace(/\.$/, '').includes('.')) return false;
  return !labels.some((label) => TEST_LABEL.test(label));
}
