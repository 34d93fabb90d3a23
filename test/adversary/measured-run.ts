import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type Ran, type RunOptions, start } from '../fixtures/cli.ts';
import { controlCharacters } from './bad-bytes.ts';

export interface MeasuredRun extends Ran {
  /** The largest resident memory of the process, in MB. */
  readonly memory: number;
  readonly seconds: number;
}

/**
 * Runs the built program to its end and samples its peak memory, as Linux counts it (VmHWM).
 * @param interruptAfter milliseconds until Ctrl-C, for a command that goes on until then
 */
export async function measuredRun(
  args: readonly string[],
  { interruptAfter, ...options }: RunOptions & { readonly interruptAfter?: number | undefined },
): Promise<MeasuredRun> {
  const begin = performance.now();
  const running = start(args, options);
  running.child.stdin?.end(options.stdin ?? '');
  let memory = 0;
  const sample = () => {
    memory = Math.max(memory, peakOf(running.pid));
  };
  // A command that is refused at once runs for less than 100 ms.
  const timer = setInterval(sample, 10);
  const interrupt = interruptAfter === undefined ? undefined : setTimeout(() => running.kill('SIGINT'), interruptAfter);
  try {
    const ran = await running.ended;
    return { ...ran, memory, seconds: (performance.now() - begin) / 1000 };
  } finally {
    clearInterval(timer);
    clearTimeout(interrupt);
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Megabytes of resident memory; a start alone takes about 55. */
const maxMemory = 200;

/** A command against a server that misbehaves. */
export interface Victim {
  readonly words: readonly string[];
  /** Seconds until it must have ended. */
  readonly limit: number;
  /** Milliseconds until Ctrl-C. */
  readonly interruptAfter?: number;
}

/** What a run must be, whoever answered it. */
export function endsWell(ran: MeasuredRun, { limit, interruptAfter }: Victim, password: string): void {
  const text = ran.stdout + ran.stderr;
  // On a busy machine Ctrl-C arrives before the program handles it; memory and output are checked nevertheless.
  const isEarly = interruptAfter !== undefined && ran.signal === 'SIGINT';
  if (!isEarly) expect(ran.signal).toBe(null);
  // 6: whoever it would send the result to cannot be reached.
  if (!isEarly) expect([0, 1, 3, 6, 130], text).toContain(ran.code);
  expect(text).not.toContain('internal');
  expect(text).not.toContain(password);
  expect(text).not.toMatch(controlCharacters);
  // What the server wrote never begins a line.
  expect(text).not.toMatch(/^(::error|error: forged|##vso)/m);
  expect(ran.memory).toBeGreaterThan(20);
  expect(ran.memory).toBeLessThan(maxMemory);
  expect(ran.seconds).toBeLessThan(limit);
}
