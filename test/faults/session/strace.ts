import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ran } from '../../fixtures/cli.ts';
import type { FaultFixture } from './fault-fixture.ts';

/** The N-th call of this name by the main thread, which makes all synchronous calls on files. */
export interface FaultPlace {
  readonly call: string;
  readonly at: number;
}

export const faultErrors = ['EIO', 'ENOSPC', 'EPERM', 'EBUSY', 'EROFS'] as const;

export interface Fault extends FaultPlace {
  readonly error: (typeof faultErrors)[number];
  readonly isPermanent: boolean;
}

const calls =
  'openat,read,pread64,write,pwrite64,fsync,fdatasync,ftruncate,rename,unlink,link,statx,fstat,newfstatat,stat,lstat,close,getdents64,mkdir,readlink';

/** Network connections use them as well: a permanent fault of these would be one of the network. */
const sharedCalls = new Set(['read', 'write', 'close']);

/** The calls on files below the state folder that a run without faults makes. */
export async function tracePlaces(fixture: FaultFixture, words: readonly string[]): Promise<readonly FaultPlace[]> {
  const { lines } = await runTraced(fixture, words, []);
  return placesIn(lines, fixture.folders.state);
}

/** With `-f` each thread counts its own calls, as the injection does. */
export function placesIn(lines: readonly string[], folder: string): readonly FaultPlace[] {
  const counts = new Map<string, number>();
  const places = lines.flatMap((line) => {
    const [, thread = '', call] = /^(\d+ +)?(\w+)\(/.exec(line) ?? [];
    if (call === undefined) return [];
    const at = (counts.get(thread + call) ?? 0) + 1;
    counts.set(thread + call, at);
    return line.includes(folder) ? [{ call, at }] : [];
  });
  return [...new Map(places.map((place) => [`${place.call} ${place.at}`, place])).values()];
}

export function faultsAt(places: readonly FaultPlace[]): readonly Fault[] {
  return places.flatMap((place) =>
    faultErrors.flatMap((error) =>
      (sharedCalls.has(place.call) ? [false] : [false, true]).map((isPermanent) => ({ ...place, error, isPermanent })),
    ),
  );
}

/** Runs the program with the fault. `isHit`: the failed call was on a file below the state folder. */
export async function runWithFault(
  fixture: FaultFixture,
  words: readonly string[],
  fault: Fault,
): Promise<{ readonly ran: Ran; readonly isHit: boolean }> {
  const { ran, lines } = await runTraced(fixture, words, ['-e', injectionOf(fault)]);
  return { ran, isHit: lines.some((line) => line.endsWith('(INJECTED)') && line.includes(fixture.folders.state)) };
}

export function injectionOf({ call, at, error, isPermanent }: Fault): string {
  return `inject=${call}:error=${error}:when=${at}${isPermanent ? '+' : ''}`;
}

/** The command that writes the calls of the program after it to a file. */
export function straceCommand(path: string, options: readonly string[]): readonly string[] {
  return ['strace', '-qq', '-y', '-s', '0', '-o', path, '-e', `trace=${calls}`, ...options];
}

async function runTraced(
  fixture: FaultFixture,
  words: readonly string[],
  options: readonly string[],
): Promise<{ readonly ran: Ran; readonly lines: readonly string[] }> {
  const path = join(fixture.folders.home, 'strace.txt');
  // Calls through io_uring are not system calls of their own.
  const ran = await fixture.run(words, { under: straceCommand(path, options), env: { UV_USE_IO_URING: '0' } });
  return { ran, lines: readFileSync(path, 'utf8').split('\n') };
}
