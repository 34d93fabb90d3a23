import { describe, expect, it } from 'vitest';
import { quietForJson } from '../../src/cli/command-io.ts';
import type { OutputFormat } from '../../src/cli/print.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { crossesTenth, formatBar, formatProgress, startNotice, startReporter } from '../../src/droplets/report.ts';
import { createState } from '../../src/droplets/state.ts';
import { createWaitResults } from '../../src/droplets/wait.ts';
import { commandIo } from '../fixtures/command-io.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { batchOf } from './batch-fixtures.ts';

describe('batch progress', () => {
  const standing = { created: 30, total: 120, fresh: 20, elapsed: 10_000 };

  describe('progress', () => {
    it('is a bar, created of all, the rate of this run and the time left', () => {
      expect(formatBar(standing)).toBe('█████░░░░░░░░░░░░░░░ 30/120 created, 2.0/s, 45 s left');
    });

    it.each([
      [{ ...standing, fresh: 0 }, '30/120 created'],
      [{ ...standing, elapsed: 0 }, '30/120 created'],
      [{ ...standing, created: 120 }, '120/120 created, 2.0/s'],
      [{ ...standing, fresh: 1_000 }, '30/120 created, 100/s, 1 s left'],
    ])('of %j is %j', (one, text) => {
      expect(formatProgress(one)).toBe(text);
    });

    it('of an empty bar and a full one has as many cells', () => {
      expect(formatBar({ ...standing, created: 0 })).toMatch(/^░{20} /);
      expect(formatBar({ ...standing, created: 120 })).toMatch(/^█{20} /);
    });

    it('passes each tenth once', () => {
      const steps = Array.from({ length: 40 }, (_, at) => crossesTenth(at, at + 1, 40));
      expect(steps.filter(Boolean)).toHaveLength(10);
      expect(crossesTenth(0, 3, 3)).toBe(true);
      expect(crossesTenth(5, 5, 40)).toBe(false);
    });
  });
});

describe('batch waiting notice printer', () => {
  /** A clock that a test moves; sleepers wake in order. */
  function steppedClock() {
    let now = 0;
    let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
    const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
    return {
      now: () => now,
      sleep: (ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          const stop = (): void => reject(signal?.reason);
          signal?.addEventListener('abort', stop);
          const wake = (): void => {
            signal?.removeEventListener('abort', stop);
            resolve();
          };
          sleepers.push({ at: now + ms, wake });
        }),
      advance: async (ms: number): Promise<void> => {
        const end = now + ms;
        for (;;) {
          await settle();
          const [next] = sleepers.toSorted((one, other) => one.at - other.at);
          if (next === undefined || next.at > end) break;
          sleepers = sleepers.filter((one) => one !== next);
          now = next.at;
          next.wake();
        }
        now = end;
      },
    };
  }

  function setUp({ quiet = false, terminal = false, format = 'table' as OutputFormat } = {}) {
    const clock = steppedClock();
    const host = { ...testHost(terminal ? { terminal: 80 } : {}), clock: { ...clock, advance: () => {} } };
    const io = { ...commandIo(host, format), progress: createProgress({ stderr: host.stderr, clock, quiet }) };
    const notice = startNotice(quietForJson(io));
    const lines = () => host.err().split('\n').filter(Boolean);
    return { notice, lines, clock, io };
  }

  it('silence for 10 s is broken by a line, and again after twice the time', async () => {
    const { notice, lines, clock } = setUp();
    notice.awaiting(() => 'X');
    await clock.advance(9_000);
    expect(lines()).toEqual([]);
    await clock.advance(2_000);
    expect(lines()).toHaveLength(1);
    await clock.advance(60_000);
    expect(lines()).toHaveLength(3);
    await clock.advance(2 * 3_600_000);
    expect(lines().length).toBeLessThan(32);
    expect(lines().every((line) => line.includes('X'))).toBe(true);
    notice.stop();
    const count = lines().length;
    await clock.advance(900_000);
    expect(lines()).toHaveLength(count);
  });

  it('has no time when what is awaited has only just changed', async () => {
    const { notice, lines, clock } = setUp();
    await clock.advance(9_999);
    notice.awaiting(() => 'X');
    await clock.advance(1);
    expect(lines()).toEqual(['still X']);
  });

  it('the rate counts from the first request, not from the lookups before it', async () => {
    const { io, lines, clock } = setUp();
    const state = createState(batchOf(['a', 'b', 'c', 'd']));
    const ledger = { state, path: 'l' };
    const reporter = await startReporter(io, ledger, createWaitResults(), { waits: false, isLedgerKept: () => true });
    await clock.advance(180_000);
    reporter.sending();
    await clock.advance(1_000);
    const rows = [
      { name: 'a', id: '1' },
      { name: 'b', id: '2' },
    ];
    state.apply({ event: 'created', at: '', group: 1, rows });
    await reporter.settled(['a', 'b']);
    expect(lines().at(-1)).toBe('2/4 created, 2.0/s, 1 s left');
  });

  it('other lines end a silence', async () => {
    const { notice, lines, clock } = setUp();
    for (let at = 0; at < 10; at++) {
      await clock.advance(8_000);
      await notice.io.output.note('n');
    }
    expect(lines()).toEqual(Array(10).fill('n'));
    await clock.advance(11_000);
    expect(lines()).toHaveLength(11);
  });

  it('progress that does not change does not', async () => {
    const { notice, lines, clock } = setUp();
    notice.awaiting(() => 'X');
    for (let at = 0; at < 5; at++) {
      await notice.io.progress.show('0 of 2');
      await clock.advance(5_000);
    }
    expect(lines()[0]).toBe('0 of 2');
    expect(lines()[1]).toContain('X');
  });

  it('a wait for the rate limit is named while it lasts', async () => {
    const { notice, lines, clock } = setUp();
    notice.awaiting(() => 'X');
    notice.pausing(15_000);
    await clock.advance(40_000);
    expectGolden('droplets', lines().join('\n'));
    expect(lines()[0]).not.toContain('X');
    expect(lines()[0]).toMatch(/\b5 s\b/);
    expect(lines()[1]).toContain('X');
  });

  it.each([
    ['with --quiet', { quiet: true }],
    ['with -o json', { format: 'json' as const }],
    ['on a terminal with -o json', { terminal: true, format: 'json' as const }],
  ])('nothing is printed %s', async (_case, options) => {
    const { lines, clock } = setUp(options);
    await clock.advance(60_000);
    expect(lines()).toEqual([]);
  });

  it('on a terminal one line is printed, and the next after 5 min', async () => {
    const { notice, lines, clock } = setUp({ terminal: true });
    notice.awaiting(() => 'X');
    await clock.advance(11_000);
    expect(lines()).toHaveLength(1);
    await clock.advance(290_000);
    expect(lines()).toHaveLength(1);
    await clock.advance(20_000);
    expect(lines()).toHaveLength(2);
  });

  it('rows end a silence', async () => {
    const { notice, lines, clock } = setUp();
    async function* pages() {
      for (let at = 0; at < 3; at++) {
        await clock.advance(8_000);
        yield { rows: () => [at] };
      }
    }
    await notice.io.output.pages(pages(), { columns: [{ name: 'N', value: (row) => row }] });
    expect(lines()).toEqual([]);
  });
});
