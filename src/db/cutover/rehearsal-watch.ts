import { createTerminalStyles, isColorEnabled } from '../../cli/color.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { createTerminalScreen } from '../../cli/screen.ts';
import { createTextMeasurer } from '../../cli/text-measurer.ts';
import type { DbSource } from '../source/read-source.ts';
import type { MigrationStatusSample } from '../watch/status-sample.ts';
import { getWatchedSourceAddress } from '../watch/update-slots-of-watch-record.ts';
import { buildNextWatchLogLines, type LastLoggedWatchState } from '../watch/view/log-lines.ts';
import { renderStatusScreenLines } from '../watch/view/status-screen.ts';
import { formatSourceName } from '../watch/watch-record.ts';
import { pollSourceContinuously } from '../watch/watch-source.ts';
import type { RehearsalRuleViolation } from './rehearsal-report.ts';

/** Watches the source while a rehearsal runs, as `db watch` does. */
export interface RehearsalWatch {
  /** Ends the watch. Resolves with the rules of the service that were violated during the rehearsal, each once. */
  stop(): Promise<readonly RehearsalRuleViolation[]>;
}

export interface RehearsalWatchOptions {
  readonly source: DbSource;
  readonly ignoreDbs: readonly string[];
  /** Names of the replication slots of the rehearsal; empty for Redis. */
  readonly slots: readonly string[];
  /** Milliseconds between two polls of the source. */
  readonly interval: number;
}

/**
 * Shows on stderr what `db watch` shows: a status screen in a terminal, log lines elsewhere. The view is written to
 * stderr, because standard output is for the report.
 */
export async function startRehearsalWatch(
  io: CommandIo,
  { source, ignoreDbs, slots, interval }: RehearsalWatchOptions,
): Promise<RehearsalWatch> {
  const stopping = new AbortController();
  const violations = new Map<string, RehearsalRuleViolation>();
  const screen = await openRehearsalScreen(io, formatSourceName(getWatchedSourceAddress(source)));
  const watching = (async () => {
    const options = { clock: io.host.clock, signal: stopping.signal, ignoreDbs, slots };
    for await (const { sample } of pollSourceContinuously(source, interval, options)) {
      if (stopping.signal.aborted) break;
      for (const { rule, observed, hint, database } of sample.violations) {
        const key = `${rule} ${database ?? ''}`;
        if (!violations.has(key))
          violations.set(key, { rule, ...(database === undefined ? {} : { database }), observed, hint });
      }
      await screen.show(sample);
    }
  })();
  // The rehearsal continues if watching the source fails.
  const done = watching.catch(() => {});
  return {
    async stop() {
      stopping.abort();
      await done;
      await screen.close();
      return [...violations.values()];
    },
  };
}

interface RehearsalScreen {
  show(sample: MigrationStatusSample): Promise<void>;
  close(): Promise<void>;
}

async function openRehearsalScreen(io: CommandIo, title: string): Promise<RehearsalScreen> {
  const { host, globals, output } = io;
  if (globals.has('quiet')) return { show: async () => {}, close: async () => {} };
  if (!host.stderr.isTTY) return createLineScreen(output);
  const { stderr, env } = host;
  const [styles, ruler] = await Promise.all([
    createTerminalStyles(isColorEnabled({ sink: stderr, env, noColor: globals.has('no-color') })),
    createTextMeasurer(),
  ]);
  const screen = createTerminalScreen(stderr);
  const lags: number[] = [];
  let last: readonly string[] = [];
  return {
    async show(sample) {
      lags.push(sample.lag_bytes ?? 0);
      if (lags.length > 200) lags.shift();
      last = renderStatusScreenLines(sample, {
        columns: stderr.columns ?? 80,
        rows: stderr.rows ?? 24,
        title: `rehearsal of ${title}`,
        footer: 'Ctrl-C ends the rehearsal and removes what it created',
        deadlineText: 'ends when all rows are replicated',
        lags,
        paint: styles,
        ruler,
      });
      await screen.draw(last);
    },
    close: () => screen.end(last.slice(0, -2)),
  };
}

function createLineScreen(output: CommandIo['output']): RehearsalScreen {
  let logged: LastLoggedWatchState | undefined;
  return {
    async show(sample) {
      const next = buildNextWatchLogLines(logged, sample);
      logged = next.said;
      if (next.lines.length > 0) await output.note(next.lines);
    },
    close: async () => {},
  };
}
