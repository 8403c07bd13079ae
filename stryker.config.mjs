/**
 * `npm run mutate [-- --mutate FILE[:LINES][,FILE…]]`: whether the tests notice when the code of checks/ is changed. Each
 * mutant is judged by the tests that are nearest to its file by import.
 */
const outDir = 'dist';

export default {
  mutate: [
    'checks/**/*.ts',
    '!checks/**/*.test.ts',
    '!checks/**/testing/**',
    // Processes, which CI runs as they are.
    '!checks/accuracy/{main,worker,real-time}.ts',
  ],
  testRunner: 'tap-in-process',
  plugins: ['./checks/accuracy/mutation/tap-in-process.mjs'],
  // What runs is the compiled code, as in dist/: Node 20 reads no TypeScript.
  buildCommand: `tsc --noEmit false --noCheck --rootDir . --outDir ${outDir} --sourceMap`,
  tapInProcess: { outDir },
  coverageAnalysis: 'perTest',
  ignorePatterns: ['dist', 'petstore-results', 'examples', 'bench'],
  tempDirName: '.cache/mutation',
  reporters: ['clear-text', 'progress', 'html'],
  htmlReporter: { fileName: '.cache/mutation.html' },
  jsonReporter: { fileName: '.cache/mutation.json' },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 95, low: 85, break: 85 },
  timeoutMS: 5000,
  logLevel: 'error',
};
