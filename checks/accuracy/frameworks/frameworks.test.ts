import { readFileSync } from 'node:fs';
import t from 'tap';
import { requirements } from '../../../spec/contract.ts';
import { packageRoot } from '../../../spec/package-root.ts';
import { type AccuracyCase, runCase } from '../case.ts';
import { FAULTS, NODE_STYLES } from './catalogue.ts';

const failures = async (accuracyCase: AccuracyCase) => {
  const { verdicts, problem } = await runCase(accuracyCase);
  t.equal(problem, undefined);
  return verdicts.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
};

t.test('each fault has one name, breaks a requirement, and is a line of a service', async (t) => {
  const read = (file: string) =>
    readFileSync(new URL(`checks/accuracy/frameworks/${file}`, packageRoot), 'utf8');
  const ownProcess = read('go/main.go') + read('python/pets.py');
  const services = ['callers', 'express-pets', 'express-rate-limit', 'fastify-rate-limit', 'pet-store']
    .concat('rate-limiter-flexible')
    .map((file) => read(`${file}.ts`))
    .join('\n');
  t.equal(new Set(FAULTS.map(({ name }) => name)).size, FAULTS.length);
  for (const { name, breaks } of FAULTS) {
    t.ok(
      requirements.some(({ id }) => id === breaks),
      breaks,
    );
    t.ok(services.includes(`is('${name}')`) || ownProcess.includes(`s("${name}")`), name);
  }
});

t.test('a conforming service fails nothing, and its windows and bans pass in no time', async (t) => {
  const [style] = NODE_STYLES;
  t.strictSame(await failures({ kind: 'variant', name: style, style }), []);
});

t.test('a fault of a service is found by what it breaks', async (t) => {
  const [name, style] = ['refusal-as-plugin-sends-it', 'fastify-rate-limit'] as const;
  t.strictSame(await failures({ kind: 'fault', name, breaks: 'error-body-429', style }), ['error-body-429']);
});
