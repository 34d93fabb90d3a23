import { escapeHtml, escapeHtmlLines, sanitizeReportLine } from '../../base/sanitize.ts';
import { createStyles, type TerminalStyles, usesColor } from '../../cli/color.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { createMeasurer, type TextMeasurer, wrapForTerminal } from '../../cli/text.ts';
import { factsOf, pageOf, tableOf } from '../preflight/formats/index.ts';
import { formatChecklist } from './checklist.ts';
import type { FollowLine, FollowResult, FollowView } from './progress.ts';

/** A view that is closed with the last lines. */
interface OpenFollowView extends FollowView {
  /** Leaves what is shown as it is, so that a prompt can stand below. */
  leave(): void;
  close(lines: readonly FollowLine[]): Promise<void>;
}

/** A terminal keeps a line for each step that is done, and shows the open one below; other outputs get a line, or an object, when a state changes. */
export async function openFollowView(io: CommandIo, view: ListView<FollowLine>): Promise<OpenFollowView> {
  const { output, globals, host } = io;
  const isShaped = globals.values('format').length > 0 || globals.value('query') !== undefined;
  if (output.format === 'ndjson' && !isShaped) return createDataView(io, view);
  if (output.format !== 'table' || isShaped) return { ...quietView(io), close: (lines) => output.list(lines, view) };
  return host.stdout.isTTY ? createLiveView(io) : createLineView(io);
}

function quietView({ output }: CommandIo): Omit<OpenFollowView, 'close'> {
  return { show: async () => {}, say: (texts) => output.show(texts), leave: () => {} };
}

/** Calls `onChange` with the lines whose state is new. */
function createChangeFilter(
  onChange: (line: FollowLine) => Promise<void>,
): (lines: readonly FollowLine[]) => Promise<void> {
  const known = new Map<string, string>();
  return async (lines) => {
    for (const line of lines) {
      if (known.get(line.id) === line.state) continue;
      known.set(line.id, line.state);
      if (line.state !== 'not_checked') await onChange(line);
    }
  };
}

function createDataView(io: CommandIo, view: ListView<FollowLine>): OpenFollowView {
  const { output, host } = io;
  const print = createChangeFilter(({ id, state, title, observed }) =>
    output.object({ at: new Date(host.clock.now()).toISOString(), id, state, title, observed }, view),
  );
  return { ...quietView(io), show: (lines) => print(lines), close: (lines) => print(lines) };
}

function createLineView(io: CommandIo): OpenFollowView {
  const { output, host } = io;
  const print = createChangeFilter(({ state, title, observed }) => {
    const at = new Date(host.clock.now()).toISOString().slice(11, 19);
    return output.text(sanitizeReportLine(`${at}  ${state.replace('_', ' ').padEnd(7)}  ${title}: ${observed}`));
  });
  return { ...quietView(io), show: (lines) => print(lines), close: (lines) => print(lines) };
}

/**
 * Draws in the normal screen, not the alternate one, so that printed commands stay readable and can be copied. The block of lines
 * is erased and drawn again below what was printed.
 */
async function createLiveView({ host, globals, output }: CommandIo): Promise<OpenFollowView> {
  const { stdout, env } = host;
  const [styles, ruler] = await Promise.all([
    createStyles(usesColor({ sink: stdout, env, noColor: globals.has('no-color') })),
    createMeasurer(),
  ]);
  const known = new Map<string, string>();
  let height = 0;
  let last: readonly string[] = [];
  const draw = async (lines: readonly string[], before: readonly string[] = []): Promise<void> => {
    // tmux moves what is erased from the first line on to its history, so each line is overwritten.
    const up = height === 0 ? '' : `\u001b[${height}A\r`;
    const text = [...before, ...lines].map((line) => `${line}\u001b[K\n`).join('');
    height = lines.length;
    last = lines;
    await stdout.write(`${up}${text}\u001b[J`);
  };
  return {
    async show(lines, status) {
      const size = { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 };
      const done = lines.filter(({ id, state }) => state === 'done' && known.get(id) !== state);
      for (const { id, state } of lines) known.set(id, state);
      const before = done.map(({ title, observed }) => {
        const text = `✓ ${title}: ${observed}`;
        return styles.green(ruler.truncate(sanitizeReportLine(text), Math.max(10, size.columns - 1)));
      });
      await draw(followBlock(lines, status, { ...size, styles, ruler }), before);
    },
    async say(texts) {
      // A command stays in one piece, so that it can be pasted.
      const wrapped = texts
        .map(keepIndent)
        .map((text) => (text.startsWith('  ') ? text : wrapForTerminal(text, stdout.columns)));
      await draw(
        last,
        (await Promise.all(wrapped)).flatMap((text) => text.split('\n')),
      );
    },
    leave() {
      height = 0;
      last = [];
    },
    // What must be read then is the next step, which stands below; no pager may hide it.
    async close(lines) {
      await draw([]);
      const open = lines.filter(({ state }) => state !== 'done' && state !== 'not_checked');
      if (open.length > 0) await output.text(await wrapForTerminal(formatChecklist(open), stdout.columns));
    },
  };
}

/** A command stands below its sentence, two spaces in. */
function keepIndent(text: string): string {
  return `${text.startsWith('  ') ? '  ' : ''}${sanitizeReportLine(text)}`;
}

interface FollowBlockOptions {
  readonly columns: number;
  readonly rows: number;
  readonly styles: TerminalStyles;
  readonly ruler: TextMeasurer;
}

/** The step that is waited for, in two lines, and the status; no line is wider than the terminal. */
export function followBlock(
  lines: readonly FollowLine[],
  status: string,
  { columns, rows, styles, ruler }: FollowBlockOptions,
): readonly string[] {
  const width = Math.max(10, columns - 1);
  const inks = { open: styles.yellow, unknown: styles.red, fails: styles.red };
  const cut = (text: string): string => ruler.truncate(sanitizeReportLine(text), width);
  const [first] = lines.flatMap(({ state, title, observed }) =>
    state === 'done' || state === 'not_checked'
      ? []
      : [
          [
            inks[state](cut(`${marks[state]} ${title}`)),
            styles.dim(`  ${ruler.truncate(sanitizeReportLine(observed), width - 2)}`),
          ],
        ],
  );
  return [...(first ?? []), styles.bold(cut(status === '' ? ' ' : status))].slice(-Math.max(1, rows - 1));
}

const marks = { open: '…', unknown: '?', fails: '✗' } as const;

interface WindowPage {
  readonly result: FollowResult;
  /** Both servers and the cluster, as texts. */
  readonly source: string;
  readonly target: string;
  readonly cluster: string;
}

/** The page of the window of a cut-over: one HTML file without scripts or external resources. */
export function renderWindowPage({ result, source, target, cluster }: WindowPage): string {
  const { lines, events, unproven, leftOut, lock, startedAt, endedAt, failure } = result;
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const rows = events.map(({ at, what, evidence }) => [
    `${seconds(at - startedAt)}, ${new Date(at).toISOString().slice(11, 19)}`,
    escapeHtml(what),
    escapeHtmlLines(evidence).replaceAll('\n', '<br>'),
  ]);
  const steps = lines.map(({ state, title, observed }) => [state.replace('_', ' '), title, observed].map(escapeHtml));
  const facts = [
    ['Source', source],
    ['Target', target],
    ['Cluster', cluster],
    ['Began', new Date(startedAt).toISOString()],
    ['Ended', `${new Date(endedAt).toISOString()}, after ${seconds(endedAt - startedAt)}`],
    ['Left out', leftOut],
    ['Lock', failure === undefined ? lock : undefined],
    ['Detail', failure?.detail],
    ['Next', failure?.hint],
  ] as const;
  return pageOf({
    title: `Cut-over of ${source}: ${failure === undefined ? 'done' : 'not done'}`,
    kind: failure === undefined ? 'continuous' : 'blocked',
    header: [
      `<h1>${escapeHtml(failure?.message ?? 'Every step is done. Switch the application to the target.')}</h1>`,
      factsOf(facts.map(([name, value]) => [name, value === undefined ? undefined : escapeHtml(value)])),
    ],
    main: [
      '<h2>Checklist</h2>',
      tableOf(['State', 'Step', 'Evidence'], steps),
      '<h2>Window</h2>',
      tableOf(['#Time', 'Event', 'Evidence'], rows),
      '<h2>Not proven</h2>',
      unproven.length === 0
        ? '<p>Nothing was left out.</p>'
        : `<ul>${unproven.map((one) => `<li>${escapeHtml(one)}</li>`).join('')}</ul>`,
    ],
  });
}
