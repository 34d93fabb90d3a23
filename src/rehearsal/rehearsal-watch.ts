import { createTerminalStyles, isColorEnabled } from '../cli/color.ts';
import { createTerminalScreen } from '../cli/screen.ts';
import { createTextMeasurer } from '../cli/text-width.ts';
import type { Context } from '../context.ts';
import type { DbSource } from '../db-source/read-source.ts';
import { sourceNameOf } from '../watch/follow-migration.ts';
import type { StatusSample } from '../watch/status-sample.ts';
import { type LoggedState, nextLogLines } from '../watch/view/log-lines.ts';
import { drawStatusScreen } from '../watch/view/status-screen.ts';
import { formatSourceName } from '../watch/watch-record.ts';
import { watchSource } from '../watch/watch-source.ts';
import type { ObservedViolation } from './rehearsal-report.ts';

/** The watch that runs beside a rehearsal. */
export interface RehearsalWatch {
  /** Ends it; resolves with every rule that was broken, each once. */
  stop(): Promise<readonly ObservedViolation[]>;
}

export interface RehearsalWatchOptions {
  readonly source: DbSource;
  readonly ignoreDbs: readonly string[];
  /** Of the rehearsal; empty for Redis. */
  readonly slots: readonly string[];
  readonly interval: number;
}

/** Shows on stderr what `db watch` shows: a picture in a terminal, lines elsewhere. Standard output is for the report. */
export async function startRehearsalWatch(
  context: Context,
  { source, ignoreDbs, slots, interval }: RehearsalWatchOptions,
): Promise<RehearsalWatch> {
  const end = new AbortController();
  const seen = new Map<string, ObservedViolation>();
  const screen = await openRehearsalScreen(context, formatSourceName(sourceNameOf(source)));
  const looking = (async () => {
    const options = { clock: context.host.clock, signal: end.signal, ignoreDbs, slots };
    for await (const { sample: sighting } of watchSource(source, interval, options)) {
      if (end.signal.aborted) break;
      for (const { rule, observed, hint, database } of sighting.violations) {
        const key = `${rule} ${database ?? ''}`;
        if (!seen.has(key)) seen.set(key, { rule, ...(database === undefined ? {} : { database }), observed, hint });
      }
      await screen.show(sighting);
    }
  })();
  // What goes wrong with looking on ends no rehearsal.
  const done = looking.catch(() => {});
  return {
    async stop() {
      end.abort();
      await done;
      await screen.close();
      return [...seen.values()];
    },
  };
}

interface RehearsalScreen {
  show(sighting: StatusSample): Promise<void>;
  close(): Promise<void>;
}

async function openRehearsalScreen(context: Context, title: string): Promise<RehearsalScreen> {
  const { host, globals, output } = context;
  if (globals.has('quiet')) return { show: async () => {}, close: async () => {} };
  if (!host.stderr.isTTY) return createLineScreen(output);
  const { stderr, env } = host;
  const [ink, rule] = await Promise.all([
    createTerminalStyles(isColorEnabled({ sink: stderr, env, noColor: globals.has('no-color') })),
    createTextMeasurer(),
  ]);
  const live = createTerminalScreen(stderr);
  const lags: number[] = [];
  let last: readonly string[] = [];
  return {
    async show(sighting) {
      lags.push(sighting.lag_bytes);
      if (lags.length > 200) lags.shift();
      const size = { columns: stderr.columns ?? 80, rows: stderr.rows ?? 24 };
      const words = {
        title: `rehearsal of ${title}`,
        foot: 'Ctrl-C ends the rehearsal and removes what it made',
        until: 'ends by itself when every row has arrived',
      };
      last = drawStatusScreen(sighting, { ...size, ...words, lags, paint: ink, ruler: rule });
      await live.draw(last);
    },
    close: () => live.end(last.slice(0, -2)),
  };
}

function createLineScreen(output: Context['output']): RehearsalScreen {
  let said: LoggedState | undefined;
  return {
    async show(sighting) {
      const next = nextLogLines(said, sighting);
      said = next.said;
      if (next.lines.length > 0) await output.note(next.lines.join('\n'));
    },
    close: async () => {},
  };
}
