import { paint, wantsColor } from '../../cli/color.ts';
import { createLive } from '../../cli/live.ts';
import { ruler } from '../../cli/width.ts';
import type { Context } from '../../context.ts';
import type { SeenViolation } from '../../rehearsal/report.ts';
import { sourceName } from '../../watch/record.ts';
import type { Sighting } from '../../watch/sighting.ts';
import { frame } from '../../watch/view/frame.ts';
import { linesFor, type Said } from '../../watch/view/lines.ts';
import { watch } from '../../watch/watch.ts';
import type { Source } from './source.ts';
import { nameOf } from './watching.ts';

/** The watch that runs beside a rehearsal. */
export interface Beside {
  /** Ends it; resolves with every rule that was broken, each once. */
  stop(): Promise<readonly SeenViolation[]>;
}

export interface BesideOptions {
  readonly source: Source;
  readonly ignoreDbs: readonly string[];
  /** Of the rehearsal; empty for Redis. */
  readonly slots: readonly string[];
  readonly interval: number;
}

/** Shows on stderr what `db watch` shows: a picture in a terminal, lines elsewhere. Standard output is for the report. */
export async function watchBeside(
  context: Context,
  { source, ignoreDbs, slots, interval }: BesideOptions,
): Promise<Beside> {
  const end = new AbortController();
  const seen = new Map<string, SeenViolation>();
  const screen = await screenOn(context, sourceName(nameOf(source)));
  const looking = (async () => {
    const options = { clock: context.host.clock, signal: end.signal, ignoreDbs, slots };
    for await (const { sighting } of watch(source, interval, options)) {
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

interface Screen {
  show(sighting: Sighting): Promise<void>;
  close(): Promise<void>;
}

async function screenOn(context: Context, title: string): Promise<Screen> {
  const { host, globals, output } = context;
  if (globals.flag('quiet')) return { show: async () => {}, close: async () => {} };
  if (!host.stderr.isTTY) return lines(output);
  const { stderr, env } = host;
  const [ink, rule] = await Promise.all([
    paint(wantsColor({ sink: stderr, env, noColor: globals.flag('no-color') })),
    ruler(),
  ]);
  const live = createLive(stderr);
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
      last = frame(sighting, { ...size, ...words, lags, paint: ink, ruler: rule });
      await live.draw(last);
    },
    close: () => live.end(last.slice(0, -2)),
  };
}

function lines(output: Context['output']): Screen {
  let said: Said | undefined;
  return {
    async show(sighting) {
      const next = linesFor(said, sighting);
      said = next.said;
      if (next.lines.length > 0) await output.note(next.lines.join('\n'));
    },
    close: async () => {},
  };
}
