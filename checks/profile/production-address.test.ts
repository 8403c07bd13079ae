import t from 'tap';
import { readBaseAddress } from '../wire/base-address.ts';
import { looksLikeProduction } from './production-address.ts';

t.test('addresses that customers may use', (t) => {
  for (const address of [
    'https://petstore.com/v1',
    'https://api.example.org/v1',
    'https://latest.petstore.com/v1',
    'https://contest.petstore.com/v1',
    'https://developers.petstore.com/v1',
    'https://8.8.8.8/v1',
    'https://172.32.0.1/v1',
    'https://[2001:4860:4860::8888]/v1',
    'https://api.petstore.com/production/v1',
  ]) {
    t.equal(looksLikeProduction(new URL(address)), true, address);
  }
  t.end();
});

t.test('addresses for tests', (t) => {
  for (const address of [
    'http://localhost:8080/v1',
    'http://petstore/v1',
    'http://127.0.0.1/v1',
    'http://127.9.9.9/v1',
    'http://10.1.2.3/v1',
    'http://172.16.0.1/v1',
    'http://192.168.0.1/v1',
    'http://[::1]:3000/v1',
    'http://[::ffff:127.0.0.1]/v1',
    'http://[fd00::1]/v1',
    'http://0.0.0.0/v1',
    'https://staging.petstore.com/v1',
    'https://api-staging.petstore.com/v1',
    'https://STAGING2.petstore.com/v1',
    'https://api.dev.petstore.com/v1',
    'https://petstore.com/sandbox/v1',
    'https://qa1.petstore.com/v1',
    'https://petstore.local/v1',
    'https://petstore-uat.azure.com/v1',
    'https://preprod.petstore.com/v1',
    'https://demo.petstore.com/v1',
  ]) {
    t.equal(looksLikeProduction(new URL(address)), false, address);
  }
  t.end();
});

t.test('a base address', (t) => {
  const address = (text: string) => {
    const read = readBaseAddress(text);
    return read.ok ? read.address : read.message;
  };
  t.equal(address('https://staging.example.com/v1/'), 'https://staging.example.com/v1');
  t.equal(address('HTTP://Staging.Example.com:80'), 'http://staging.example.com');
  t.equal(address('http://[::1]:8080/a/v1//'), 'http://[::1]:8080/a/v1');
  t.match(address('https:staging.example.com'), /not an http/);
  t.match(address('http://a:99999/v1'), /not an http/);
  t.match(address('http://a/v1?'), /query/);
  t.match(address('http://a/v1#'), /fragment/);
  t.match(address('http://@a/v1?'), /query/);
  t.match(address('http://key@a/v1'), /credentials/);
  t.end();
});
