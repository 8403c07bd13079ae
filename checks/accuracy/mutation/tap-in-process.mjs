/**
 * Runs tap's tests for Stryker in one process, where they stay loaded: a mutant takes as long as the tests that reach it,
 * and no process and no import for each. Only a mutant of what runs at import needs a process of its own.
 */
import { join, relative, resolve } from 'node:path';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  DryRunStatus,
  determineHitLimitReached,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { nearestTests } from './nearest-tests.mjs';

/** What the mutated code reads and writes. */
globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;

class TapInProcess {
  static inject = tokens(commonTokens.options);

  #outDir;
  #tap;
  /** Test file → its top-level tests. */
  #loaded = new Map();
  /** Whether a mutant left something behind that fails a test without it. */
  #spoilt = false;

  /** @param {{ tapInProcess: { outDir: string } }} options where the build leaves what runs */
  constructor({ tapInProcess: { outDir } }) {
    this.#outDir = outDir;
  }

  async init() {
    // tap takes the channel to a process that started it for its own: it would write into Stryker's and let go of it.
    const { send } = process;
    process.send = undefined;
    this.#tap = await import('tap');
    this.#tap.t.setTimeout(0);
    process.send = send;
    process.channel?.ref();
  }

  capabilities() {
    return { reloadEnvironment: false };
  }

  async dryRun({ files }) {
    const results = [];
    const near = new Set(files.flatMap((file) => nearestTests(relative(process.cwd(), file))));
    for (const file of near) {
      for (const test of await this.#testsIn(file)) {
        stryker.currentTestId = test.id;
        results.push(await this.#run(test));
        stryker.currentTestId = undefined;
      }
    }
    return { status: DryRunStatus.Complete, tests: results, mutantCoverage: stryker.mutantCoverage };
  }

  async mutantRun({ activeMutant, hitLimit, mutantActivation, sandboxFileName, testFilter }) {
    // Stryker starts another process, and asks that for the same mutant.
    if (this.#spoilt) process.exit(1);
    stryker.hitLimit = hitLimit;
    stryker.hitCount = 0;
    const isStatic = mutantActivation === 'static';
    const reaches = (id) => testFilter === undefined || testFilter.includes(id);
    const results = [];
    let killer;
    for (const file of nearestTests(relative(process.cwd(), sandboxFileName))) {
      stryker.activeMutant = isStatic ? activeMutant.id : undefined;
      const tests = await this.#testsIn(file);
      stryker.activeMutant = activeMutant.id;
      for (const test of tests.filter(({ id }) => reaches(id))) {
        const result = await this.#run(test);
        results.push(result);
        if (result.status === TestStatus.Failed) killer = test;
        if (killer !== undefined) break;
      }
      if (killer !== undefined) break;
    }
    const { hitCount } = stryker;
    stryker.activeMutant = undefined;
    stryker.hitLimit = undefined;
    // After a static mutant the process ends anyway.
    if (killer !== undefined && !isStatic)
      this.#spoilt = (await this.#run(killer)).status === TestStatus.Failed;
    return (
      determineHitLimitReached(hitCount, hitLimit) ??
      toMutantRunResult({ status: DryRunStatus.Complete, tests: results })
    );
  }

  async #testsIn(file) {
    const tests = this.#loaded.get(file) ?? (await this.#load(file));
    this.#loaded.set(file, tests);
    return tests;
  }

  async #load(file) {
    const tests = [];
    const { t } = this.#tap;
    const { test } = t;
    t.test = (name, ...rest) => {
      tests.push({ id: `${file} ${tests.length + 1} ${name}`, name, file, parameters: [name, ...rest] });
      return Promise.resolve(null);
    };
    try {
      await import(resolve(join(this.#outDir, file.replace(/\.ts$/, '.js'))));
    } finally {
      t.test = test;
    }
    return tests;
  }

  async #run({ id, name, file, parameters }) {
    const root = new this.#tap.Test({ name: file });
    // Nobody reads its TAP.
    root.resume();
    const began = performance.now();
    const result = await root.test(...parameters);
    const told = { id, name, fileName: file, timeSpentMs: performance.now() - began };
    root.end();
    return result.ok
      ? { ...told, status: TestStatus.Success }
      : {
          ...told,
          status: TestStatus.Failed,
          failureMessage: result.failures.map(({ fullname }) => fullname).join(', '),
        };
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'tap-in-process', TapInProcess)];

export const strykerValidationSchema = {
  properties: {
    tapInProcess: { type: 'object', properties: { outDir: { type: 'string' } }, required: ['outDir'] },
  },
};
