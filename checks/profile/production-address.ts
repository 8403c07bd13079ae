import { BlockList, isIP } from 'node:net';

/** A label of a host name or path that says that nobody's live animals are behind it. */
const TEST_LABEL =
  /^(?:staging|stage|stg|tests?|testing|tst|dev|devel|development|qa|sandbox|pre-?prod|preproduction|uat|demo|local|localhost)\d*$/;

const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['0.0.0.0', 32],
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  PRIVATE.addSubnet(net, prefix, net.includes(':') ? 'ipv6' : 'ipv4');

/**
 * Whether an address may be one that customers use: neither this machine nor a private network, and no word in host or
 * path that marks it as a place for tests. Errs towards yes, for the answer costs one explicit word.
 */
export function looksLikeProduction(url: URL): boolean {
  const host = url.hostname.replace(/[[\]]/g, '');
  const family = isIP(host);
  if (family !== 0 && PRIVATE.check(host, family === 6 ? 'ipv6' : 'ipv4')) return false;
  // A host name without a dot resolves in this machine's network only.
  if (family === 0 && !host.replace(/\.$/, '').includes('.')) return false;
  const labels = `${host}/${url.pathname}`.toLowerCase().split(/[./_-]/);
  return !labels.some((label) => TEST_LABEL.test(label));
}
