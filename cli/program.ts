import { Command } from 'commander';
import { HARNESS_VERSION } from '../spec/harness-version.ts';

/** A command. Its code is loaded only if it is called. */
interface Entry {
  readonly description: string;
  readonly load: () => Promise<Command>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  check: {
    description: 'check a target against every requirement of the interface',
    load: async () => (await import('./check/check.ts')).checkCommand,
  },
  watch: {
    description: 'judge the answers that other clients get through a proxy; send nothing',
    load: async () => (await import('./watch/watch.ts')).watchCommand,
  },
  serve: {
    description: 'start the reference server on this machine',
    load: async () => (await import('./serve/serve.ts')).serveCommand,
  },
  load: {
    description: 'run a load scenario through k6',
    load: async () => (await import('./load/load.ts')).loadCommand,
  },
  report: {
    description: 'render stored results again, or compare runs or implementations',
    load: async () => (await import('./report/report.ts')).reportCommand,
  },
  compare: {
    description: 'compare two load results; exit code 1 where HEAD is worse',
    load: async () => (await import('./load/compare.ts')).compareCommand,
  },
  merge: {
    description: 'merge the results of several runners of one load',
    load: async () => (await import('./load/merge.ts')).mergeCommand,
  },
  init: {
    description: 'write a target profile, and say what each permission costs',
    load: async () => (await import('./init/init.ts')).initCommand,
  },
  explain: {
    description: 'explain a requirement or a gap: what is asked, what is sent, what it costs, what breaks it',
    load: async () => (await import('./explain/explain.ts')).explainCommand,
  },
};

/**
 * Runs the command that the words name. The exit code is the process's own; wrong usage is thrown.
 *
 * @param args the words after the program's name
 */
export async function main(args: readonly string[]): Promise<void> {
  const program = new Command('petstore-harness')
    .description('Checks and loads an implementation of the Pet Store Service Interface.')
    .version(HARNESS_VERSION)
    .exitOverride();
  const asked = args.find((word) => Object.hasOwn(COMMANDS, word));
  for (const [name, { description, load }] of Object.entries(COMMANDS)) {
    const command = name === asked ? await load() : new Command(name);
    program.addCommand(command.description(description).exitOverride());
  }
  await program.parseAsync(args, { from: 'user' });
}
