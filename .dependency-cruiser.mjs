/** `npm run imports`: which part of the project may import which. */

const layers = {
  spec: [],
  wire: ['spec'],
  limits: ['spec', 'wire'],
  profile: ['spec', 'wire', 'limits'],
  run: ['spec', 'wire', 'limits', 'profile'],
  sections: ['spec', 'wire', 'limits', 'profile', 'run'],
};
const place = (layer) => (layer === 'spec' ? '^spec/' : `^checks/${layer}/`);
const tests = '(\\.(test|tap)\\.ts$|/testing/)';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circle',
      severity: 'error',
      comment: 'Whoever changes one of two files that import each other has to hold both in mind.',
      from: {},
      to: { circular: true },
    },
    ...Object.entries(layers).map(([layer, below]) => ({
      name: `${layer}-imports-what-is-below`,
      severity: 'error',
      comment: `${layer} may import ${below.join(', ') || 'nothing of the project'}.`,
      from: { path: place(layer), pathNot: tests },
      to: {
        path: '^(spec|checks|cli|reports|scenarios|reference-server)/',
        pathNot: [place(layer), ...below.map(place)],
      },
    })),
    {
      name: 'judges-send-nothing',
      severity: 'error',
      comment: 'A judge is a pure function: only scenes know the network, the keys and the time.',
      from: { path: '^checks/sections/.*(checks|gaps)\\.ts$' },
      to: { path: '^checks/(run/(probe|sending/sender|run|clock|play|preflight)|wire/client)\\.ts$' },
    },
    {
      name: 'the-reference-server-reads-for-itself',
      severity: 'error',
      comment: 'It is an independent reading of the document.',
      from: { path: '^reference-server/', pathNot: tests },
      to: { path: '^(spec|checks|cli|reports|scenarios)/' },
    },
    {
      name: 'the-minimal-server-knows-no-deviation',
      severity: 'error',
      comment: 'They are put on it in one place.',
      from: { path: '^reference-server/[^/]+\\.ts$', pathNot: [tests, '/reference-server\\.ts$'] },
      to: { path: '^reference-server/(deviations|attacks|bench)/' },
    },
    {
      name: 'reports-and-scenarios-stand-beside-the-commands',
      severity: 'error',
      from: { path: '^(reports|scenarios|checks)/', pathNot: `${tests}|^checks/accuracy/` },
      to: { path: '^cli/' },
    },
    {
      name: 'scenarios-know-no-report',
      severity: 'error',
      comment: 'Reports render what scenarios measured.',
      from: { path: '^scenarios/', pathNot: tests },
      to: { path: '^reports/' },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      comment: 'What only tests need is not in the package.',
      from: { pathNot: tests },
      to: { path: '/testing/' },
    },
  ],
  options: {
    includeOnly: '^(spec|checks|cli|reports|scenarios|reference-server)/',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};
