/** `npm run imports`: which part of the project may import which. */

const layers = {
  spec: [],
  // An independent reading of the document.
  'reference-server': [],
  'checks/wire': ['spec'],
  'checks/limits': ['spec', 'checks/wire'],
  'checks/profile': ['spec', 'checks/(wire|limits)'],
  'checks/run': ['spec', 'checks/(wire|limits|profile)'],
  'checks/sections': ['spec', 'checks/(wire|limits|profile|run)'],
  'checks/check-target': ['spec', 'checks/(wire|limits|profile|run|sections)'],
  scenarios: ['spec', 'checks/(wire|limits|profile|run)', 'reference-server'],
  // They render what checks and scenarios measured.
  reports: ['spec', 'checks/(wire|limits|profile|run|check-target)', 'scenarios'],
};
const place = (layer) => `^${layer}\\b`;
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
      name: `${layer.replace('/', '-')}-imports-what-is-below`,
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
      to: { path: '^checks/(run/(sending/sender|run|clock|play|preflight)|wire/client)\\.ts$' },
    },
    {
      name: 'the-minimal-server-knows-no-deviation',
      severity: 'error',
      comment: 'They are put on it in one place.',
      from: { path: '^reference-server/[^/]+\\.ts$', pathNot: [tests, '/reference-server\\.ts$'] },
      to: { path: '^reference-server/(deviations|attacks|bench)/' },
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
