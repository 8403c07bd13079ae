import t from 'tap';
import { looksLikeProduction } from './production-address.ts';

t.test('an address is for tests where its host or path says so, and nowhere else', async (t) => {
  for (const host of [
    ...['petstore.com', 'api.example.org', 'latest.petstore.com', 'contest.petstore.com', '8.8.8.8'],
    ...['developers.petstore.com', '172.32.0.1', '[2001:4860:4860::8888]', 'api.petstore.com/production'],
    // Beside each private network.
    ...['126.255.255.255', '128.0.0.0', '9.255.255.255', '11.0.0.0', '172.15.255.255', '192.167.255.255'],
    ...['192.169.0.0', '169.253.255.255', '169.255.0.0', '0.0.0.1', '[::2]', '[fbff::1]', '[fec0::1]'],
  ])
    t.equal(looksLikeProduction(new URL(`https://${host}/v1`)), true, host);
  for (const host of [
    ...['localhost:8080', 'petstore', '127.0.0.1', '127.9.9.9', '10.1.2.3', '172.16.0.1', '192.168.0.1'],
    ...['[::1]:3000', '[::ffff:127.0.0.1]', '[fd00::1]', '0.0.0.0', 'staging.petstore.com', '8.8.8.8/test'],
    ...['api-staging.petstore.com', 'STAGING2.petstore.com', 'api.dev.petstore.com', 'petstore.com/sandbox'],
    ...['qa1.petstore.com', 'petstore.local', 'petstore-uat.azure.com', 'preprod.petstore.com'],
    ...['127.255.255.255', '10.255.255.255', '172.31.255.255', '192.168.255.255', '169.254.255.255'],
    ...['[::]', '[fdff:ffff::1]', '[febf:ffff::1]'],
  ])
    t.equal(looksLikeProduction(new URL(`http://${host}/v1`)), false, host);
});
