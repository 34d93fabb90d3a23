import { createTerminalStyles, isColorEnabled } from '../../cli/color.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { maxTextLength } from '../../cli/command-io.ts';
import { sanitizeLines } from '../../cli/sanitize.ts';
import { createTerminalScreen } from '../../cli/screen.ts';
import { createTextMeasurer } from '../../cli/text-width.ts';
import type { StatusSample } from '../status-sample.ts';
import { type LoggedState, nextLogLines } from './log-lines.ts';
import { drawStatusScreen } from './status-screen.ts';

/** Where a watch shows what it sees. */
export interface WatchScreen {
  show(sample: StatusSample): Promise<void>;
  close(): Promise<void>;
}

/** A picture in a terminal, lines elsewhere, data where a format was asked for. */
export async function openWatchScreen(context: CommandIo, title: string, showQueries: boolean): Promise<WatchScreen> {
  const { output, globals, host } = context;
  const asText =
    output.format === 'table' && globals.values('format').length === 0 && globals.value('query') === undefined;
  if (!asText) return createDataScreen(context);
  // What is sent scrolls, which a picture cannot.
  return host.stdout.isTTY && !showQueries ? createLiveScreen(context, title) : createLineScreen(context);
}

function createDataScreen({ output }: CommandIo): WatchScreen {
  let last: StatusSample | undefined;
  const streams = output.format === 'ndjson';
  return {
    async show(sample) {
      last = sample;
      if (streams) await output.object(sample, view);
    },
    // Formats that are one document hold one look: the last.
    async close() {
      if (!streams && last !== undefined) await output.object(last, view);
    },
  };
}

const view: ListView<StatusSample> = {
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

function createLineScreen({ output }: CommandIo): WatchScreen {
  let said: LoggedState | undefined;
  return {
    async show(sample) {
      const next = nextLogLines(said, sample);
      said = next.said;
      if (next.lines.length > 0) await output.text(sanitizeLines(next.lines.join('\n'), maxTextLength));
    },
    close: async () => {},
  };
}

async function createLiveScreen({ host, globals }: CommandIo, title: string): Promise<WatchScreen> {
  const { stdout, env } = host;
  const [ink, rule] = await Promise.all([
    createTerminalStyles(isColorEnabled({ sink: stdout, env, noColor: globals.has('no-color') })),
    createTextMeasurer(),
  ]);
  const live = createTerminalScreen(stdout);
  const lags: number[] = [];
  let last: StatusSample | undefined;
  const picture = (sample: StatusSample): readonly string[] =>
    drawStatusScreen(sample, {
      columns: stdout.columns ?? 80,
      rows: stdout.rows ?? 24,
      title,
      lags,
      paint: ink,
      ruler: rule,
    });
  const redraw = () => {
    if (last !== undefined) void live.draw(picture(last));
  };
  const deaf = stdout.onResize?.(redraw);
  return {
    async show(sample) {
      last = sample;
      lags.push(sample.lag_bytes);
      if (lags.length > 200) lags.shift();
      await live.draw(picture(sample));
    },
    async close() {
      deaf?.();
      // The last picture without its foot stays where the person can scroll back to it.
      await live.end(last === undefined ? [] : picture(last).slice(0, -2));
    },
  };
}
