import type { Clock, OutputSink } from '../../src/platform/host.ts';

export interface FakeSink extends OutputSink {
  readonly text: () => string;
  readonly writes: readonly string[];
}

/** A sink that keeps what it was given; a terminal when it has columns. */
export function fakeSink(columns?: number): FakeSink {
  const writes: string[] = [];
  return {
    isTTY: columns !== undefined,
    columns,
    writes,
    text: () => writes.join(''),
    write: async (data) => {
      writes.push(Buffer.from(data).toString('utf8'));
    },
  };
}

/** A clock that stands still until it is told; sleepers wake when their time has come. */
export function fakeClock(): Clock & { readonly pass: (ms: number) => Promise<void> } {
  let time = 0;
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();
  return {
    now: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { until: time + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(new Error('aborted'));
        });
      }),
    async pass(ms) {
      time += ms;
      for (const sleeper of sleepers) {
        if (sleeper.until > time) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
