import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../main.js', import.meta.url));
/** Makes a process print its peak resident memory at its end. */
const TELL_MEMORY = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>writeSync(2,'resident '+process.resourceUsage().maxRSS+' KiB'))`;

/** What a run of the command took. */
export interface Took {
  readonly seconds: number;
  /** Resident at most. */
  readonly megabytes: number;
  readonly output: string;
  readonly killed: boolean;
}

export interface RunOptions {
  /** A moment at which it is killed. */
  readonly killed?: Promise<unknown> | undefined;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Told of what it prints, with the seconds since its start. */
  readonly onOutput?: (text: string, seconds: number) => void;
}

/**
 * Runs the command to its end in a process of its own.
 *
 * @throws with its output if it fails
 */
export async function took(
  args: readonly string[],
  { killed, env = {}, onOutput = () => {} }: RunOptions = {},
): Promise<Took> {
  const begun = performance.now();
  const since = () => (performance.now() - begun) / 1000;
  const child = spawn(process.execPath, ['--import', TELL_MEMORY, COMMAND, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(text, since());
    });
  }
  void killed?.then(() => child.kill('SIGKILL'));
  await once(child, 'close');
  const wasKilled = child.signalCode === 'SIGKILL';
  if (child.exitCode !== 0 && !wasKilled) throw new Error(`${args.join(' ')}: ${output}`);
  const kibibytes = Number(/resident (\d+) KiB/.exec(output)?.[1]);
  return { seconds: since(), megabytes: (kibibytes * 1024) / 1e6, output, killed: wasKilled };
}
