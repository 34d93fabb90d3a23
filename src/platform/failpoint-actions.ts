import { appendFileSync } from 'node:fs';
import type { ProcessEnvironment } from './host.ts';

/**
 * The actions of failpoints, only in a test build (`node scripts/build.mjs --test`).
 *
 * - `CLOUDCTL_TEST_KILL_AT=POINT[:N]`: SIGKILL when the point is reached for the Nth time (default: 1).
 * - `CLOUDCTL_TEST_STOP_AT=POINT[:N]`: SIGSTOP there; SIGCONT continues.
 * - `CLOUDCTL_TEST_WIDTHS=FILE`: appends one line of JSON for each refresh, with the milliseconds from the last byte read until
 *   write(2) returned and until fdatasync(2) returned.
 * - `CLOUDCTL_TEST_COMMITS=FILE`: appends one line of JSON for each refresh, with the milliseconds from the last byte read, and
 *   from the return of write(2), until the credential store acknowledged the record.
 * - `CLOUDCTL_TEST_POINTS=FILE`: appends the name of each point that is reached.
 */
export function failpointHandler(
  env: ProcessEnvironment,
  act: (signal: 'SIGKILL' | 'SIGSTOP') => void = (signal) => process.kill(process.pid, signal),
  now: () => number = () => performance.now(),
): (point: string) => void {
  const times = new Map<string, number>();
  const at = new Map<string, number>();
  return (point) => {
    at.set(point, now());
    const count = (times.get(point) ?? 0) + 1;
    times.set(point, count);
    if (env.CLOUDCTL_TEST_POINTS !== undefined) appendFileSync(env.CLOUDCTL_TEST_POINTS, `${point}\n`);
    if (isRequested(env.CLOUDCTL_TEST_STOP_AT, point, count)) act('SIGSTOP');
    if (isRequested(env.CLOUDCTL_TEST_KILL_AT, point, count)) act('SIGKILL');
    if (point === 'K8-sealed' && env.CLOUDCTL_TEST_WIDTHS !== undefined)
      appendFileSync(env.CLOUDCTL_TEST_WIDTHS, `${JSON.stringify(writeDurations(at))}\n`);
    if (point === 'K10-stored' && env.CLOUDCTL_TEST_COMMITS !== undefined)
      appendFileSync(env.CLOUDCTL_TEST_COMMITS, `${JSON.stringify(commitDurations(at))}\n`);
  };
}

function isRequested(request: string | undefined, point: string, count: number): boolean {
  const [name, nth = '1'] = request?.split(':') ?? [];
  return name === point && count === Number(nth);
}

function writeDurations(at: ReadonlyMap<string, number>): object {
  return {
    written_ms: millisecondsBetween(at, 'K7-read', 'K7-written'),
    synced_ms: millisecondsBetween(at, 'K7-read', 'K8-sealed'),
  };
}

function commitDurations(at: ReadonlyMap<string, number>): object {
  return {
    after_read_ms: millisecondsBetween(at, 'K7-read', 'K10-stored'),
    after_write_ms: millisecondsBetween(at, 'K7-written', 'K10-stored'),
  };
}

function millisecondsBetween(at: ReadonlyMap<string, number>, from: string, to: string): number {
  return Number(((at.get(to) ?? 0) - (at.get(from) ?? 0)).toFixed(4));
}
