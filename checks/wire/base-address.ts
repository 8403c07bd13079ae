/** A base address as the harness uses it, or why a text is none. */
export type BaseAddress =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly message: string; readonly remedy: string };

const EXAMPLE = 'write it like https://staging.example.com/v1';

/**
 * Reads the base address of a target, from a profile or the command line: http or https, with a path or without, no
 * trailing slash in the result. The text itself is not part of a message when it could hold a secret.
 */
export function readBaseAddress(text: string): BaseAddress {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    return { ok: false, message: 'the target is not an http:// or https:// address', remedy: EXAMPLE };
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    const remedy = 'remove everything before the "@"; keys come from environment variables';
    return { ok: false, message: 'the target contains credentials', remedy };
  }
  if (url.search !== '' || text.includes('?')) {
    return { ok: false, message: 'the target has a query', remedy: 'remove everything from the "?" on' };
  }
  if (url.hash !== '' || text.includes('#')) {
    return { ok: false, message: 'the target has a fragment', remedy: 'remove everything from the "#" on' };
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (/^https?:\/\/\//i.test(text) || path.includes('//'))
    return { ok: false, message: 'the target has slashes with nothing between them', remedy: EXAMPLE };
  return { ok: true, address: `${url.origin}${path}` };
}

/** Whether a host is the machine itself that asks for it. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(hostname);

/** Section 9: whether the version is a segment of the address's path. */
export function hasVersionSegment(address: string): boolean {
  return new URL(address).pathname.split('/').includes('v1');
}
