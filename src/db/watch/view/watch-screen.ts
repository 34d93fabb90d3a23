import { createTerminalStyles, isColorEnabled } from '../../../cli/color.ts';
import type { ListView } from '../../../cli/columns.ts';
import type { CommandIo } from '../../../cli/command-io.ts';
import { createTerminalScreen } from '../../../cli/screen.ts';
import { createTextMeasurer } from '../../../cli/text-measurer.ts';
import type { MigrationStatusSample } from '../status-sample.ts';
import { buildNextWatchLogLines, type LastLoggedWatchState } from './log-lines.ts';
import { renderStatusScreenLines } from './status-screen.ts';

/** Shows the samples of a watch. */
export interface MigrationWatchScreen {
  /** Whether it redraws a status screen, which other output would break. */
  readonly isLive: boolean;
  show(sample: MigrationStatusSample): Promise<void>;
  close(): Promise<void>;
}

/** Shows a status screen in a terminal, log lines for other outputs, and data if an output format is given. */
export async function openMigrationWatchScreen(
  io: CommandIo,
  title: string,
  showQueries: boolean,
): Promise<MigrationWatchScreen> {
  const { output, globals, host } = io;
  const asText =
    output.format === 'table' && globals.values('format').length === 0 && globals.value('query') === undefined;
  if (!asText) return createDataScreen(io);
  // With --show-queries the watch prints log lines, because printed queries would scroll the status screen.
  return host.stdout.isTTY && !showQueries ? createLiveScreen(io, title) : createLineScreen(io);
}

function createDataScreen({ output }: CommandIo): MigrationWatchScreen {
  let last: MigrationStatusSample | undefined;
  const streams = output.format === 'ndjson';
  return {
    isLive: false,
    async show(sample) {
      last = sample;
      if (streams) await output.object(sample, view);
    },
    // An output format that is a single document contains only the last sample.
    async close() {
      if (!streams && last !== undefined) await output.object(last, view);
    },
  };
}

const view: ListView<MigrationStatusSample> = {
  columns: [
    { name: 'At', value: (row) => row.at },
    { name: 'Phase', value: (row) => row.phase },
    { name: 'Percent', value: (row) => row.percent },
    { name: 'BytesDone', value: (row) => row.bytes_done },
    { name: 'BytesTotal', value: (row) => row.bytes_total },
    { name: 'LagBytes', value: (row) => row.lag_bytes },
    { name: 'EtaSeconds', value: (row) => row.eta_seconds },
    { name: 'Deadline', value: (row) => row.deadline },
    { name: 'Cause', value: (row) => row.cause?.rule },
    { name: 'Object', value: (row) => row.cause?.object },
    { name: 'Violations', value: (row) => row.violations.map(({ rule }) => rule).join(',') },
  ],
};

function createLineScreen({ output }: CommandIo): MigrationWatchScreen {
  let logged: LastLoggedWatchState | undefined;
  return {
    isLive: false,
    async show(sample) {
      const next = buildNextWatchLogLines(logged, sample);
      logged = next.said;
      if (next.lines.length > 0) await output.text(next.lines.join('\n'));
    },
    close: async () => {},
  };
}

async function createLiveScreen({ host, globals }: CommandIo, title: string): Promise<MigrationWatchScreen> {
  const { stdout, env } = host;
  const [styles, ruler] = await Promise.all([
    createTerminalStyles(isColorEnabled({ sink: stdout, env, noColor: globals.has('no-color') })),
    createTextMeasurer(),
  ]);
  const screen = createTerminalScreen(stdout);
  const lags: number[] = [];
  let last: MigrationStatusSample | undefined;
  const lines = (sample: MigrationStatusSample): readonly string[] =>
    renderStatusScreenLines(sample, {
      columns: stdout.columns ?? 80,
      rows: stdout.rows ?? 24,
      title,
      lags,
      paint: styles,
      ruler,
    });
  const redraw = () => {
    if (last !== undefined) void screen.draw(lines(last));
  };
  const stopResizing = stdout.onResize?.(redraw);
  return {
    isLive: true,
    async show(sample) {
      last = sample;
      lags.push(sample.lag_bytes ?? 0);
      if (lags.length > 200) lags.shift();
      await screen.draw(lines(sample));
    },
    async close() {
      stopResizing?.();
      // The last status, without its footer, remains visible in the terminal after the watch.
      await screen.end(last === undefined ? [] : lines(last).slice(0, -2));
    },
  };
}
