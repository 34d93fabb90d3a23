import type { Actor } from '../../api/actor.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { maxTextLength, sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf, showInvisible } from '../../base/text.ts';
import type { ListView } from '../../cli/columns.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { wrapForTerminal } from '../../cli/text.ts';
import { requireDuration } from '../../cli/values.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { requireWritable, writeReport } from '../preflight/index.ts';
import { type DbSource, readCluster, readSource, sourceUrlText, targetUrlText } from '../source/index.ts';
import { saveWatchedTarget, settleInterrupted, sourceAddress, undoNote } from '../watch/index.ts';
import { loadBaseline, pathOfBaseline, pathOfRecord, readRecord } from '../watch/record.ts';
import { type Cutover, checkCutover } from './check.ts';
import {
  acceptableLines,
  type CutoverFacts,
  cutoverChecklist,
  firstOpenLine,
  formatChecklist,
  hasMigrationFailed,
  listUnproven,
} from './checklist.ts';
import { divideAccepted } from './comparison.ts';
import { describeLock, followCutover } from './follow.ts';
import { describeLeftOut } from './left-out.ts';
import { cutoverCommands, nextStep } from './next.ts';
import { type ComparedTables, type FollowLine, type FollowResult, withLock } from './progress.ts';
import { readTargetServer } from './target.ts';
import { openFollowView, renderWindowPage } from './view.ts';
import { openWindow, reportFileOf } from './window.ts';

const view: ListView<FollowLine> = {
  isReport: true,
  untruncated: true,
  columns: [
    { name: 'Line', value: (row) => row.title },
    { name: 'State', value: (row) => row.state.replace('_', ' ') },
    { name: 'Observed', value: (row) => sanitizeReportLine(row.observed) },
    { name: 'ID', value: (row) => row.id, extra: true },
  ],
};

interface Run {
  readonly io: CommandIo;
  readonly actor: Actor;
  readonly args: ParsedArgs;
  readonly cutover: Cutover;
  /** Lines of the checklist that the user has checked. */
  readonly accepted: readonly string[];
  /** Of what earlier commands recorded of the migration. */
  readonly recordPath: string;
}

/**
 * Prints what is left to do before the cut-over, or with `--follow` follows it until every line is done. Throws
 * `cutover_incomplete` while a line is left.
 */
export async function runCutover(io: CommandIo, actor: Actor, args: ParsedArgs): Promise<ExitCode> {
  const cluster = readCluster(args);
  io.output.checkColumns(view);
  const { lines: accepted, tables: acceptedTables } = divideAccepted(args.values('accept'), acceptableLines);
  const following = readFollowArgs(io, args);
  const source = await readSource(io, args);
  const target = await readTargetServer(io, args, source.engine);
  await settleInterrupted(io, actor, cluster);
  const recordPath = pathOfRecord(io.host.folders.state, sourceAddress(source));
  const cutover = {
    ...{ cluster, source, target, acceptedTables, clock: io.host.clock },
    ignoreDbs: args.values('ignore-dbs'),
    slots: args.values('slot'),
    record: readRecord(recordPath),
  };
  const run = { io, actor, args, cutover, accepted, recordPath };
  return following === undefined ? check(run) : follow(run, following);
}

async function check(run: Run): Promise<ExitCode> {
  const { host, globals, output, progress } = run.io;
  const { source } = run.cutover;
  const api = await run.actor.api();
  const facts = await runUntilSignal(host.signals, 'the checks were interrupted; nothing was changed', (signal) =>
    checkCutover(api, {
      ...{ ...run.cutover, accepted: run.accepted, signal },
      onCheck: (what) => void progress.show(sanitizeReportLine(what)),
    }),
  ).finally(() => progress.stop());
  if (facts.targetFailure === undefined) saveTarget(run);
  const lines = cutoverChecklist({ ...facts, accepted: run.accepted });
  const isShaped = globals.values('format').length > 0 || globals.value('query') !== undefined;
  if (output.format === 'table' && !isShaped)
    await output.text(await wrapForTerminal(formatChecklist(lines), host.stdout.columns));
  else await output.list(lines, view);
  const { migration } = facts;
  const warnings = typeof migration === 'string' ? [] : (migration.warnings ?? []);
  // They say what the migration did not copy, which the last lines prove to be there: in full, they hide the next step.
  const isRestored = lines.every(({ id, state }) => id === 'passwords' || state === 'done');
  if (warnings.length > 0 && !isRestored)
    await output.warn(
      `the service has ${countOf(warnings.length, 'warning')} about what it does not copy: \`${run.actor.command('db status', run.cutover.cluster)}\` prints ${warnings.length === 1 ? 'it' : 'them'}${source.engine === 'redis' ? '' : '; `--follow --apply`, or `db grants` after the stop, restores owners and privileges'}`,
    );
  const left = lines.filter(({ state }) => state !== 'done');
  const open = hasMigrationFailed(facts) ? lines.find(({ id }) => id === 'stopped') : firstOpenLine(lines);
  if (open === undefined) {
    const lock = await describeLock(run.cutover);
    await output.note(
      lastNotes(source, {
        ...{ unproven: listUnproven(lines), lock, keptRoles: facts.keptRoles },
        leftOut: describeLeftOut(facts.leftOut ?? []),
      }),
    );
    return 0;
  }
  const error = new CliError(
    'cutover_incomplete',
    `${lines.length - left.length} of ${lines.length} steps of the cut-over are done`,
    {
      detail: sanitizeReportLine(`${open.title}: ${open.observed}`),
      hint: nextStep(open, commandsOf(run, facts, facts.isTargetWithoutTls), facts).slice(0, maxTextLength),
    },
  );
  const lock = await describeLock(run.cutover);
  throw lock === undefined ? error : withLock(error, lock);
}

interface Following {
  readonly isApplied: boolean;
  readonly compared: ComparedTables;
  readonly waitTimeout: number;
  readonly report: string | undefined;
}

/** What `--follow` was given; undefined without it. A wrong or unconfirmed command line is refused before any request. */
function readFollowArgs({ prompts, globals }: CommandIo, args: ParsedArgs): Following | undefined {
  const only = ['apply', 'compare', 'wait-timeout', 'report'].find(
    (name) => args.has(name) || args.value(name) !== undefined,
  );
  if (!args.has('follow')) {
    if (only !== undefined) throw usageError(`--${only} needs --follow`, 'add `--follow`');
    return undefined;
  }
  const isApplied = args.has('apply');
  if (isApplied && !prompts.interactive && !globals.has('yes'))
    throw usageError(
      'the cut-over is not confirmed, and there is no terminal for a prompt',
      'confirm with `--yes`',
      'nothing was sent to the service or to a server',
    );
  const compared = (['all', 'changed', 'none'] as const).find((one) => one === args.value('compare')) ?? 'all';
  const report = args.value('report');
  requireWritable(report);
  const waitTimeout = requireDuration(args.value('wait-timeout') ?? '1h', '--wait-timeout', 1000);
  return { isApplied, compared, waitTimeout, report };
}

async function follow(run: Run, following: Following): Promise<ExitCode> {
  const { io, actor, cutover } = run;
  const { host, output, prompts } = io;
  const { cluster, source, target } = cutover;
  const followView = await openFollowView(io, view);
  const confirm = async (): Promise<void> => {
    if (!following.isApplied) return;
    const stop = `stop the migration into cluster ${cluster} as ${await actor.describeForPrompt()}`;
    const steps =
      source.engine === 'redis'
        ? stop
        : `set the sequences of the target, ${stop}, and restore owners and privileges on the target`;
    const message = `When nothing writes any more and the contents are equal: ${steps}? A stopped migration cannot be continued.`;
    if (!io.globals.has('yes')) followView.leave();
    if (!(await prompts.confirm({ message })))
      throw new CliError('cancelled', 'the cut-over was not begun', { hint: 'run it without `--apply` to only look' });
  };
  const result = await followCutover(await actor.api(), {
    ...cutover,
    ...following,
    ...{ confirm, signals: host.signals, view: followView, accepted: run.accepted },
    commands: commandsOf(run, {}),
    helpWith: (line, facts) => nextStep(line, commandsOf(run, facts), facts),
    baseline: loadBaseline(pathOfBaseline(host.folders.state, sourceAddress(source), cluster)),
    loginHints: actor.loginHints(),
    openWindow: (migration) => openWindow(run.recordPath, migration),
    onTarget: () => saveTarget(run),
  });
  await followView.close(result.lines);
  if (following.report !== undefined) {
    const names = { source: sourceUrlText(source), target: targetUrlText(target) };
    const file = reportFileOf(following.report, new Date(result.startedAt).toISOString());
    writeReport(file, renderWindowPage({ result, cluster, ...names }));
    if (file !== following.report)
      await output.show(
        `The report is in ${showInvisible(file)}, because ${showInvisible(following.report)} has another text.`,
      );
  }
  if (result.failure !== undefined) throw result.failure;
  await output.note(lastNotes(source, result));
  return 0;
}

function saveTarget({ recordPath, cutover }: Run): void {
  saveWatchedTarget(recordPath, cutover.cluster, targetUrlText(cutover.target));
}

function commandsOf(
  { io, actor, args, cutover }: Run,
  facts: Pick<CutoverFacts, 'access' | 'unlogged'>,
  isTargetWithoutTls = false,
): ReturnType<typeof cutoverCommands> {
  const { target } = cutover;
  // The hint tells the user to paste this command, so the command contains the correction.
  const corrected: DbSource =
    isTargetWithoutTls && target.engine === 'postgresql'
      ? { engine: 'postgresql', source: { ...target.source, ssl: 'disable' } }
      : target;
  return cutoverCommands(io, actor, args, { ...cutover, target: corrected, facts });
}

function lastNotes(
  { engine }: DbSource,
  {
    unproven = [],
    leftOut,
    lock,
    keptRoles = [],
  }: Partial<Pick<FollowResult, 'unproven' | 'leftOut' | 'lock' | 'keptRoles'>>,
): readonly string[] {
  return [
    'Every step is done. Next, switch the application to the target.',
    ...(leftOut === undefined ? [] : [leftOut]),
    ...keptRoles,
    ...unproven.map((one) => sanitizeReportLine(`Not proven: ${one}.`)),
    // What no line of the checklist looks at.
    ...(engine === 'redis'
      ? [
          'Not proven: that the target has the ACL users and the configuration of the source. Replication does not copy them.',
        ]
      : []),
    ...(lock === undefined ? [] : [`${lock.charAt(0).toUpperCase()}${lock.slice(1)}.`]),
    undoNote,
  ];
}
