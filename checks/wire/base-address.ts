/**
 * Reads the base address of a target, from a profile or the command line: http or https, with a path or without, no
 * trailing slash in the result. The text itself is not part of a message when it could hold a secret.
 *
 * @returns the address as the harness uses it, or why the text is none
 */
export function readBaseAddress(text: string) {
  const wrong = (what: string, remedy = 'write it like https://staging.example.com/v1') =>
    ({ ok: false, message: `the target ${what}`, remedy }) as const;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return wrong('is not an http:// or https:// address');
  const { username, password, origin, pathname } = new URL(text);
  if (username !== '' || password !== '')
    return wrong(
      'contains credentials',
      'remove everything before the "@"; keys come from environment variables',
    );
  if (text.includes('?')) return wrong('has a query', 'remove everything from the "?" on');
  if (text.includes('#')) return wrong('has a fragment', 'remove everything from the "#" on');
  const path = pathname.replace(/\/+$/, '');
  if (/^https?:\/\/\//i.test(text) || path.includes('//'))
    return wrong('has slashes with nothing between them');
  return { ok: true, address: `${origin}${path}` } as const;
}

/** Whether a host is the machine itself that asks for it. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(hostname);

/** Section 9: whether the version is a segment of the address's path. */
export function hasVersionSegment(address: string): boolean {
  return new URL(address).pathname.split('/').includes('v1');
}
