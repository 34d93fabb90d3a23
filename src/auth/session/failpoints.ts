import { failpointHandler } from '../../platform/failpoint-actions.ts';

declare const __TEST_BUILD__: boolean | undefined;

/**
 * Points at which a test can interrupt a refresh. The name of each failpoint begins with the kill point in docs/sessions.md to
 * which it belongs. The kill points K3 (half a request), K4 and K5 (the server closes the connection) have no failpoint: tests
 * cause them in the server or in a relay.
 */
export const failpoints = {
  'K1-waiting': 'before waiting for the lock',
  'K1-locked': 'the lock is acquired; the session was not read yet',
  'K2-reserved': 'the journal is on the disk; the request was not sent yet',
  'K3-sending': 'the request is passed to the network',
  'K6-answering': 'status and headers of the response were received, but no byte of its body',
  'K6-partial': 'the first chunk of the body was received',
  'K7-read': 'the last byte of a successful response was read; none was written to the disk yet',
  'K7-written': 'write(2) has returned, fdatasync(2) has not',
  'K8-sealed': 'fdatasync(2) has returned; the credential store was not written yet',
  'K9-storing': 'before the write to the credential store',
  'K10-stored': 'the credential store has the new record; the journal still exists',
  'K10-cleared': 'the journal was removed; the lock was not released yet',
  'R-promoting': 'before a later command stores the record of a journal',
  'R-promoted': 'a later command has stored the record of a journal, which still exists',
} as const;

export type Failpoint = keyof typeof failpoints;

export interface FailpointObserver {
  /** Called each time a failpoint is reached. The release build does not contain calls of failpoints. */
  readonly onFailpoint?: ((point: Failpoint) => void) | undefined;
}

export function reached(observer: FailpointObserver, point: Failpoint): void {
  if (typeof __TEST_BUILD__ === 'undefined' || __TEST_BUILD__) observer.onFailpoint?.(point);
}

/**
 * Creates the action for failpoints from the environment variables of a test build; returns undefined in the release build.
 */
export function failpointAction(env: Readonly<Record<string, string | undefined>>): FailpointObserver['onFailpoint'] {
  if (typeof __TEST_BUILD__ !== 'undefined' && __TEST_BUILD__) return failpointHandler(env);
  return undefined;
}
