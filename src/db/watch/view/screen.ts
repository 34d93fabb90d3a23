import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { countOf, formatBytes, formatDuration } from '../../../base/text.ts';
import { createStyles, plainStyles, type TerminalStyles, usesColor } from '../../../cli/color.ts';
import type { ListView } from '../../../cli/columns.ts';
import type { CommandIo } from '../../../cli/command-io.ts';
import { createScreen, progressBar, sparkline } from '../../../cli/progress.ts';
import { createMeasurer, type TextMeasurer } from '../../../cli/text.ts';
import { formatIdentity } from '../identity.ts';
import { type DatabaseSample, fixPlaces, type StatusSample, type TableSample, type WatchPhase } from '../sample.ts';
import { formatPhaseAndPercent, formatTimeLeft, type LoggedState, nextLogLines, phaseLabels } from './lines.ts';

/** Shows the samples of a watch. */
interface MigrationWatchScreen {
  /** Whether it redraws a status screen, which other output would break. */
  readonly isLive: boolean;
  show(sample: StatusSample): Promise<void>;
  close(): Promise<void>;
}

/** Shows a status screen in a terminal, log lines for other outputs, and data if an output format is given. */
export async function openWatchScreen(
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
  let last: StatusSample | undefined;
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
    { name: 'Cause', value: (row) => row.cause?.rule },
    { name: 'Object', value: (row) => row.cause?.object },
    { name: 'Violations', value: (row) => row.violations.map(({ rule }) => rule).join(',') },
  ],
};

function createLineScreen({ output }: CommandIo): MigrationWatchScreen {
  let logged: LoggedState | undefined;
  return {
    isLive: false,
    async show(sample) {
      const next = nextLogLines(logged, sample);
      logged = next.said;
      if (next.lines.length > 0) await output.text(next.lines.join('\n'));
    },
    close: async () => {},
  };
}

async function createLiveScreen({ host, globals }: CommandIo, title: string): Promise<MigrationWatchScreen> {
  const { stdout, env } = host;
  const [styles, ruler] = await Promise.all([
    createStyles(usesColor({ sink: stdout, env, noColor: globals.has('no-color') })),
    createMeasurer(),
  ]);
  const screen = createScreen(stdout);
  const lags: number[] = [];
  let last: StatusSample | undefined;
  const lines = (sample: StatusSample): readonly string[] =>
    renderScreen(sample, {
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

interface StatusScreenOptions {
  /** Width and height of the terminal in characters. */
  readonly columns: number;
  readonly rows: number;
  /** The source as `HOST:PORT/DBNAME`, for the title of the screen. */
  readonly title: string;
  /** The lag in bytes in each poll, oldest first. */
  readonly lags: readonly number[];
  readonly paint: TerminalStyles;
  readonly ruler: TextMeasurer;
  /** Description of the effect of Ctrl-C; absent if Ctrl-C ends only the watch. */
  readonly footer?: string;
  /** Text that replaces the line with the deadline of the service. */
  readonly deadlineText?: string;
}

/** Renders one sample within the size of the terminal: first violations, then databases. */
export function renderScreen(sample: StatusSample, options: StatusScreenOptions): readonly string[] {
  if (options.columns >= minColumns) return drawLines(sample, options);
  // In a very narrow terminal lines are truncated, which is possible only without colours.
  const lines = drawLines(sample, { ...options, paint: plainStyles });
  return lines.map((line) => options.ruler.truncate(line, Math.max(1, options.columns - 1)));
}

const minColumns = 40;

function drawLines(sample: StatusSample, options: StatusScreenOptions): readonly string[] {
  const { columns, rows } = options;
  const width = Math.max(10, columns - 1);
  const header = headerLines(sample, options, width);
  const violations = violationLines(sample, options, width);
  const bottom =
    options.footer ??
    (isMigrationKnown(sample) ? 'Ctrl-C ends the watch; the migration continues' : 'Ctrl-C ends the watch');
  const footerLines = [options.paint.dim(options.ruler.truncate(bottom, width))];
  const available = Math.max(0, rows - header.length - footerLines.length - 2);
  // Violations use at most two thirds of the screen, so that databases remain visible.
  const shown = cutLines(violations, Math.max(4, Math.ceil((available * 2) / 3)), options.paint);
  const databases = databaseLines(
    withoutEmptyDatabases(sample.databases),
    options,
    width,
    available - shown.length - (shown.length > 0 ? 1 : 0),
  );
  const withBlankLine = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', ...lines]);
  return [...header, ...withBlankLine(shown), ...withBlankLine(databases), '', ...footerLines].slice(
    -Math.max(1, rows),
  );
}

function headerLines(
  sample: StatusSample,
  { title, lags, paint, ruler, deadlineText }: StatusScreenOptions,
  width: number,
): readonly string[] {
  const { phase, percent, bytes_done: done, bytes_total: total, lag_bytes: lag } = sample;
  const state = formatPhaseAndPercent(phase, percent, '  ');
  const name = ruler.truncate(sanitizeReportLine(title), Math.max(8, width - state.length - 2));
  const pad = ' '.repeat(Math.max(2, width - ruler.measure(name) - state.length));
  const cells = Math.min(40, Math.max(10, width - 34));
  const filled = progressBar((percent ?? 0) / 100, cells);
  const amounts = ruler.truncate(
    [total === 0 ? '' : `${formatBytes(done)} of ${formatBytes(total)}`, formatTimeLeft(sample)]
      .filter((part) => part !== '')
      .join(', '),
    width - cells - 2,
  );
  const lagText = lag === undefined ? '' : `${formatBytes(lag)} behind`;
  const room = Math.min(cells, width - lagText.length - 2);
  const lagGraph = sparkline(lags, room);
  return [
    `${paint.bold(name)}${pad}${phaseColor(phase, paint)(state)}`,
    `${phaseColor(phase, paint)(filled.full)}${paint.dim(filled.empty)}  ${amounts}`,
    `${paint.cyan(lagGraph)}${' '.repeat(Math.max(0, room - lagGraph.length))}  ${lagText}`,
    paint.dim(ruler.truncate(deadlineText ?? formatDeadline(sample), width)),
    ...identityLines(sample).map((line) => paint.dim(ruler.truncate(sanitizeReportLine(line), width))),
    ...(sample.notes ?? []).map((note) => paint.dim(ruler.truncate(sanitizeReportLine(note), width))),
  ];
}

/** Whether the sample shows a migration, and not only a consumer that could be one. */
function isMigrationKnown({ identified_by: identity, phase }: StatusSample): boolean {
  return phase !== 'gone' && identity !== undefined && identity.grade !== 'assumed';
}

/** One line for the least certain identity, with the database if there are several. */
function identityLines({ identified_by: weakest, databases }: StatusSample): readonly string[] {
  if (weakest === undefined) return [];
  const place = databases.find(({ identified_by: own }) => own === weakest);
  const isOneOfMany = databases.filter(({ slot }) => slot !== undefined).length > 1;
  return [`${isOneOfMany && place !== undefined ? `${place.name}: ` : ''}${formatIdentity(weakest)}`];
}

function formatDeadline({ deadline, deadline_from: from, at }: StatusSample): string {
  if (deadline === null) return 'deadline: not known yet';
  const available = (Date.parse(deadline) - Date.parse(at)) / 1000;
  const since = from === 'first_sighting' ? ', counted from the first poll that saw it' : '';
  return `deadline ${deadline.slice(0, 16).replace('T', ' ')} UTC, ${available <= 0 ? 'now' : `in ${formatDuration(available * 1000)}`}${since}`;
}

function violationLines(
  { violations, cause }: StatusSample,
  { paint, ruler }: StatusScreenOptions,
  width: number,
): readonly string[] {
  return violations.flatMap((violation) => {
    const { rule, database, observed, hint, fix } = violation;
    const place = database === undefined ? '' : ` in ${sanitizeReportLine(database)}`;
    const label = violation === cause ? 'CAUSE ' : '';
    const first = wrapWords(`${label}${rule}${place}: ${sanitizeReportLine(observed)}`, width - 2, ruler);
    const run =
      fix === undefined
        ? []
        : wrapWords(`${fixPlaces[fix.run_on]}: ${sanitizeReportLine(fix.statement, 1000)}`, width - 4, ruler);
    const hintColor = hint.startsWith('DO NOT') ? paint.red : (text: string) => text;
    return [
      ...first.map((line, at) => paint.red(`${at === 0 ? '! ' : '  '}${line}`)),
      ...wrapWords(sanitizeReportLine(hint, 500), width - 4, ruler).map((line) => hintColor(`    ${line}`)),
      ...run.map((line) => paint.bold(`    ${line}`)),
    ];
  });
}

function databaseLines(
  databases: readonly DatabaseSample[],
  options: StatusScreenOptions,
  width: number,
  room: number,
): readonly string[] {
  const { paint, ruler } = options;
  if (room < Math.min(2, databases.length))
    return room < 1 ? [] : [paint.dim(ruler.truncate(phaseCounts(databases), width))];
  // Tables are shown only for databases that are being copied or are stalled.
  const expanded = databases.filter(({ phase }) => phase === 'copying' || phase === 'stalled');
  const spare = Math.max(0, room - databases.length);
  const each = expanded.length === 0 ? 0 : Math.max(0, Math.floor(spare / expanded.length));
  const lines = databases.flatMap((database) => {
    const { percent, lag_bytes: lag } = database;
    const amount = percent === undefined ? '' : `${percent.toFixed(1)} %`;
    const state = `${phaseLabels[database.phase].padEnd(11)} ${amount.padStart(7)}`;
    const lagText = database.phase === 'waiting' || lag === undefined ? '' : `  ${formatBytes(lag)} behind`;
    const name = ruler.pad(ruler.truncate(sanitizeReportLine(database.name), nameWidth(width)), nameWidth(width));
    const row = `${paint.bold(name)} ${phaseColor(database.phase, paint)(state)}${ruler.truncate(lagText, Math.max(0, width - nameWidth(width) - 20))}`;
    return [row, ...(expanded.includes(database) ? tableLines(database.tables, options, width, each) : [])];
  });
  return cutLines(lines, room, paint);
}

/** Leaves out databases that are empty and have no slot. */
function withoutEmptyDatabases(databases: readonly DatabaseSample[]): readonly DatabaseSample[] {
  const found = databases.filter(({ phase, tables }) => phase !== 'waiting' || tables.length > 0);
  return found.length === 0 ? databases : found;
}

/** The number of databases in each phase, such as `2 streaming, 1 copying`. */
function phaseCounts(databases: readonly DatabaseSample[]): string {
  const phases = [...new Set(databases.map(({ phase }) => phase))];
  return phases.map((one) => `${databases.filter(({ phase }) => phase === one).length} ${phaseLabels[one]}`).join(', ');
}

function tableLines(
  tables: readonly TableSample[],
  options: StatusScreenOptions,
  width: number,
  room: number,
): readonly string[] {
  if (room <= 0) return [];
  const open = tables.filter(({ state }) => state !== 'done');
  const shown = open.slice(0, open.length > room ? room - 1 : room);
  const rest = tables.length - shown.length;
  const done = tables.length - open.length;
  const more = rest === 0 || shown.length >= room ? [] : [options.paint.dim(`  ${remainingTables(rest - done, done)}`)];
  return [...shown.map((table) => tableLine(table, options, width)), ...more];
}

function remainingTables(waiting: number, done: number): string {
  return [...(waiting > 0 ? [`${waiting} more`] : []), ...(done > 0 ? [`${done} done`] : [])].join(', ');
}

function tableLine(table: TableSample, { paint, ruler }: StatusScreenOptions, width: number): string {
  const name = ruler.pad(ruler.truncate(`  ${sanitizeReportLine(table.name)}`, nameWidth(width)), nameWidth(width));
  const part = table.state === 'done' ? 1 : table.bytes_total === 0 ? 0 : table.bytes_done / table.bytes_total;
  const drawn = progressBar(part, 11);
  const percent = `${Math.floor(part * 100)} %`.padStart(7);
  const size = `  ${formatBytes(table.bytes_total)}`;
  // The tables of a Redis source are its numbered databases, which have no bytes of their own.
  const unit = table.bytes_total === 0 && /^db\d+$/.test(table.name) ? 'key' : 'row';
  const rows = table.rows_done > 0 ? `, ${countOf(table.rows_done, unit)}` : '';
  const tail = ruler.truncate(`${size}${rows}`, Math.max(0, width - nameWidth(width) - 20));
  return `${name} ${paint.cyan(drawn.full)}${paint.dim(drawn.empty)} ${percent}${paint.dim(tail)}`;
}

function nameWidth(width: number): number {
  return Math.max(10, Math.min(40, width - 42));
}

function cutLines(lines: readonly string[], room: number, paint: TerminalStyles): readonly string[] {
  if (lines.length <= room) return lines;
  if (room <= 0) return [];
  return [...lines.slice(0, room - 1), paint.dim(`… ${lines.length - room + 1} more lines`)];
}

/** Breaks a text into lines at its spaces. */
function wrapWords(text: string, cells: number, ruler: TextMeasurer): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (ruler.measure(longer) <= cells) line = longer;
    else {
      if (line !== '') lines.push(line);
      line = ruler.truncate(word, cells);
    }
  }
  return line === '' ? lines : [...lines, line];
}

function phaseColor(phase: WatchPhase, paint: TerminalStyles): (text: string) => string {
  if (phase === 'stalled' || phase === 'gone') return paint.red;
  return phase === 'waiting' || phase === 'loading' || phase === 'catching_up' ? paint.yellow : paint.cyan;
}
