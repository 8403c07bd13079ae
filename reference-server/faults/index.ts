import type { Fault } from './fault.ts';

/** Every fault that the server can have, one at a time. */
export const FAULTS: readonly Fault[] = [];
