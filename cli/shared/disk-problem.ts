/** What the system says where results cannot be written any more: the target did nothing wrong, nor did the harness. */
const DISK_PROBLEMS = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EFBIG', 'EACCES']);

/** Whether results could not be written, be it for want of space or of the right to. */
export function isDiskProblem(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // By its name: the class comes with every renderer.
  if (error.name === 'UnwritableReport') return true;
  return 'code' in error && DISK_PROBLEMS.has(String(error.code)) && 'syscall' in error;
}
