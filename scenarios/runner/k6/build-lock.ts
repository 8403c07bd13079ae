import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 500;

async function owner(lock: string): Promise<number | undefined> {
  try {
    return Number(await readFile(join(lock, 'pid'), 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Runs `work` while this process alone holds `lock`, a folder that it makes and removes. Waits for another holder;
 * takes over from one that has died.
 */
export async function withBuildLock<T>(
  lock: string,
  progress: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  let ownerless = 0;
  for (;;) {
    try {
      await mkdir(lock);
      break;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const pid = await owner(lock);
    // Between mkdir and writeFile a lock has no owner for a moment; for longer only where its maker died then.
    ownerless = pid === undefined ? ownerless + 1 : 0;
    if ((pid !== undefined && !isAlive(pid)) || ownerless > 4) {
      await rm(lock, { recursive: true, force: true });
      continue;
    }
    progress(`waiting for process ${pid ?? '(starting)'}, which is building k6`);
    await sleep(LOOK_EVERY_MS);
  }
  try {
    await writeFile(join(lock, 'pid'), String(process.pid));
    return await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}
