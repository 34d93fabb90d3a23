import { createFailpointActions } from '../platform/failpoint-actions.ts';

declare const __TEST_BUILD__: boolean | undefined;

/**
 * Where a refresh can be interrupted by a test. Names begin with the kill point of docs/sessions.md that they stand for.
 * K3 (half a request), K4 and K5 (a server that drops the connection) are made by the server or by a relay before it:
 * the program sees nothing of them. With the file store `reserved`, `written`, `sealed` and `stored` are those of the
 * temporary that becomes the record.
 */
export const failpoints = {
  'K1-waiting': 'about to wait for the lock',
  'K1-locked': 'the lock is held, nothing was read yet',
  'K2-reserved': 'the write-ahead file is on the disk, nothing was sent',
  'K3-sending': 'the request is given to the network',
  'K6-answering': 'status and headers of the answer are here, nothing of its body',
  'K6-partial': 'the first piece of the body is here',
  'K7-read': 'the last byte of a success was read, nothing of it was written',
  'K7-written': 'write(2) has returned, fdatasync(2) has not',
  'K8-sealed': 'fdatasync(2) has returned, the store has not been asked',
  'K9-storing': 'the store is about to be asked to write',
  'K10-stored': 'the store has the new record, the write-ahead file is still there',
  'K10-cleared': 'the write-ahead file is gone, the lock is still held',
  'R-promoting': 'a later command is about to store what a write-ahead file holds',
  'R-promoted': 'it is stored, the write-ahead file is still there',
} as const;

export type Failpoint = keyof typeof failpoints;

export interface FailpointObserver {
  /** Told at each point. In the product nobody is: the calls are not in it. */
  readonly onFailpoint?: ((point: Failpoint) => void) | undefined;
}

export function reachFailpoint(deps: FailpointObserver, point: Failpoint): void {
  if (typeof __TEST_BUILD__ === 'undefined' || __TEST_BUILD__) deps.onFailpoint?.(point);
}

/** What the variables of a test build ask for; undefined in the product. */
export function failpointObserver(env: Readonly<Record<string, string | undefined>>): FailpointObserver['onFailpoint'] {
  if (typeof __TEST_BUILD__ !== 'undefined' && __TEST_BUILD__) return createFailpointActions(env);
  return undefined;
}
