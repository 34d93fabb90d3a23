import { paint, wantsColor } from '../../cli/color.ts';
import type { ListView } from '../../cli/columns.ts';
import { createLive } from '../../cli/live.ts';
import { cleanLines } from '../../cli/sanitize.ts';
import { ruler } from '../../cli/width.ts';
import type { Context } from '../../context.ts';
import type { Sighting } from '../../watch/sighting.ts';
import { frame } from '../../watch/view/frame.ts';
import { linesFor, type Said } from '../../watch/view/lines.ts';
import { wholeText } from './report.ts';

/** Where a watch shows what it sees. */
export interface Screen {
  show(sighting: Sighting): Promise<void>;
  close(): Promise<void>;
}

/** A picture in a terminal, lines elsewhere, data where a format was asked for. */
export async function screenFor(context: Context, title: string, showQueries: boolean): Promise<Screen> {
  const { output, globals, host } = context;
  const asText =
    output.format === 'table' && globals.list('format').length === 0 && globals.text('query') === undefined;
  if (!asText) return dataScreen(context);
  // What is sent scrolls, which a picture cannot.
  return host.stdout.isTTY && !showQueries ? liveScreen(context, title) : lineScreen(context);
}

function dataScreen({ output }: Context): Screen {
  let last: Sighting | undefined;
  const streams = output.format === 'ndjson';
  return {
    async show(sighting) {
      last = sighting;
      if (streams) await output.object(sighting, view);
    },
    // Formats that are one document hold one look: the last.
    async close() {
      if (!streams && last !== undefined) await output.object(last, view);
    },
  };
}

const view: ListView<Sighting> = {
  columns: [
    { name: 'At', value: (row) => row.at },
    { name: 'Phase', value: (row) => row.phase },
    { name: 'Percent', value: (row) => row.percent },
    { name: 'BytesDone', value: (row) => row.bytes_done },
    { name: 'BytesTotal', value: (row) => row.bytes_total },
    { name: 'LagBytes', value: (row) => row.lag_bytes },
    { name: 'EtaSeconds', value: (row) => row.eta_seconds },
    { name: 'Deadline', value: (row) => row.deadline },
    { name: 'Violations', value: (row) => row.violations.map(({ rule }) => rule).join(',') },
  ],
};

function lineScreen({ output }: Context): Screen {
  let said: Said | undefined;
  return {
    async show(sighting) {
      const next = linesFor(said, sighting);
      said = next.said;
      if (next.lines.length > 0) await output.text(cleanLines(next.lines.join('\n'), wholeText));
    },
    close: async () => {},
  };
}

async function liveScreen({ host, globals }: Context, title: string): Promise<Screen> {
  const { stdout, env } = host;
  const [ink, rule] = await Promise.all([
    paint(wantsColor({ sink: stdout, env, noColor: globals.flag('no-color') })),
    ruler(),
  ]);
  const live = createLive(stdout);
  const lags: number[] = [];
  let last: Sighting | undefined;
  const picture = (sighting: Sighting): readonly string[] =>
    frame(sighting, { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24, title, lags, paint: ink, ruler: rule });
  const redraw = () => {
    if (last !== undefined) void live.draw(picture(last));
  };
  const deaf = stdout.onResize?.(redraw);
  return {
    async show(sighting) {
      last = sighting;
      lags.push(sighting.lag_bytes);
      if (lags.length > 200) lags.shift();
      await live.draw(picture(sighting));
    },
    async close() {
      deaf?.();
      // The last picture without its foot stays where the person can scroll back to it.
      await live.end(last === undefined ? [] : picture(last).slice(0, -2));
    },
  };
}
