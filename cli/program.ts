import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { HARNESS_VERSION } from '../spec/harness-version.ts';

/** What each command does, and its code, which is loaded only if it is called. */
const COMMANDS: Readonly<
  Record<string, readonly [string, () => Promise<{ readonly command: CommandUnknownOpts }>]>
> = {
  check: ['check a target against every requirement of the interface', () => import('./check/check.ts')],
  watch: [
    'judge the answers that other clients get through a proxy; send nothing',
    () => import('./watch/watch.ts'),
  ],
  serve: ['start the reference server on this machine', () => import('./serve/serve.ts')],
  load: ['run a load scenario through k6', () => import('./load/load.ts')],
  report: [
    'render stored results again, or compare runs or implementations',
    () => import('./report/report.ts'),
  ],
  compare: ['compare two load results; exit code 1 where HEAD is worse', () => import('./load/compare.ts')],
  merge: ['merge the results of several runners of one load', () => import('./load/merge.ts')],
  init: ['write a target profile, and say what each permission costs', () => import('./init/init.ts')],
  explain: [
    'explain a requirement or a gap: what is asked, what is sent, what it costs, what breaks it',
    () => import('./explain/explain.ts'),
  ],
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
  for (const [name, [description, load]] of Object.entries(COMMANDS)) {
    const command: CommandUnknownOpts = name === asked ? (await load()).command : new Command(name);
    program.addCommand(command.description(description).exitOverride());
  }
  await program.parseAsync(args, { from: 'user' });
}
