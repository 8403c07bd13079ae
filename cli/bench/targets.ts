import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoKeys } from '../../reference-server/api-keys.ts';
import { type ServerOptions, startServer } from '../../reference-server/server.ts';
import { writeServeProfile } from '../serve/serve-profile.ts';

/** A target for the command, in this process. */
export interface BenchTarget {
  /** A folder of its own, for results too. */
  readonly folder: string;
  /** Options of the command that name it and its keys. */
  readonly options: readonly string[];
}

/** Runs `work` with a reference server that has these demo keys. */
export async function withTarget<T>(
  keys: readonly string[],
  options: Omit<ServerOptions, 'keys'>,
  work: (target: BenchTarget) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const server = await startServer({
    ...options,
    keys: demoKeys().filter(({ name }) => keys.includes(name)),
  });
  try {
    const profile = join(folder, 'target.yaml');
    const envFile = writeServeProfile(profile, server);
    return await work({ folder, options: ['--profile', profile, '--env-file', envFile] });
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Delays each answer, as an ocean would. */
export const answersAfter = (milliseconds: number): Pick<ServerOptions, 'behaviour'> => ({
  behaviour: (usual) => ({
    ...usual,
    deliver: (...answer) => void setTimeout(() => usual.deliver(...answer), milliseconds),
  }),
});
