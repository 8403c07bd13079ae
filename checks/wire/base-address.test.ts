import t from 'tap';
import { hasVersionSegment, readBaseAddress } from './base-address.ts';

const GOOD: readonly (readonly [string, string])[] = [
  ['https://staging.example.com/v1', 'https://staging.example.com/v1'],
  ['https://staging.example.com/v1/', 'https://staging.example.com/v1'],
  ['http://127.0.0.1:8080/v1///', 'http://127.0.0.1:8080/v1'],
  ['HTTPS://Staging.Example.COM:443/V1', 'https://staging.example.com/V1'],
  ['http://[::1]:3000', 'http://[::1]:3000'],
  ['https://example.com/a/b/v1', 'https://example.com/a/b/v1'],
];
for (const [text, address] of GOOD) {
  t.test(`${text} is ${address}`, async (t) => {
    t.strictSame(readBaseAddress(text), { ok: true, address });
  });
}

const BAD: readonly (readonly [string, RegExp, RegExp])[] = [
  ['staging.example.com/v1', /not an http:\/\/ or https:\/\/ address/, /https:\/\/staging\.example\.com\/v1/],
  ['ftp://example.com/v1', /not an http:\/\/ or https:\/\/ address/, /write it like/],
  ['see https://example.com/v1', /not an http:\/\/ or https:\/\/ address/, /write it like/],
  ['https://', /not an http:\/\/ or https:\/\/ address/, /write it like/],
  ['http://exa mple/v1', /not an http:\/\/ or https:\/\/ address/, /write it like/],
  ['', /not an http:\/\/ or https:\/\/ address/, /write it like/],
  ['https://user@example.com/v1', /contains credentials/, /environment variables/],
  ['https://user:s3cret@example.com/v1', /contains credentials/, /before the "@"/],
  ['https://:s3cret@example.com/v1', /contains credentials/, /before the "@"/],
  ['https://example.com/v1?key=s3cret', /has a query/, /from the "\?" on/],
  ['https://example.com/v1?', /has a query/, /from the "\?" on/],
  ['https://example.com/v1#s3cret', /has a fragment/, /from the "#" on/],
  ['http://example.com//v1', /slashes with nothing between them/, /write it like/],
  ['http:///v1', /slashes with nothing between them/, /write it like/],
  ['https://example.com/v1#', /has a fragment/, /from the "#" on/],
];
for (const [text, message, remedy] of BAD) {
  t.test(`"${text}" is refused`, async (t) => {
    const read = readBaseAddress(text);
    t.match(read, { ok: false, message, remedy });
    t.notMatch(JSON.stringify(read), 's3cret');
  });
}

t.test('the version is a whole segment, wherever it stands', async (t) => {
  for (const path of ['/v1', '/shop/v1', '/v1/pets-api'])
    t.ok(hasVersionSegment(`http://localhost:8080${path}`), path);
  for (const path of ['', '/v10', '/api-v1', '/v2'])
    t.notOk(hasVersionSegment(`http://localhost:8080${path}`), path);
  t.notOk(hasVersionSegment('http://v1'), 'a host is no path');
});
