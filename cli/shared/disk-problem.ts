/** Errors of a system that can no longer write results. Neither target nor harness did anything wrong. */
const DISK_PROBLEMS = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EFBIG', 'EACCES']);

/** Whether results could not be written, for example because the disk is full. */
export function isDiskProblem(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // By its name, as importing the class would load every renderer.
  if (error.name === 'UnwritableReport') return true;
  return 'code' in error && DISK_PROBLEMS.has(String(error.code)) && 'syscall' in error;
}
