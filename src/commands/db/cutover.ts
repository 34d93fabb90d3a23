import type { ApiClient } from '../../api/client.ts';
import { refusedHints } from '../../auth/session/index.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { maxSanitizedTextLength, sanitizeReportLine } from '../../base/sanitize.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/values.ts';
import { describeActor, readStoredAccountAndServerOrigins } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import {
  acceptableLines,
  acceptWords,
  type ChecklistLine,
  type ComparedTables,
  type CutoverFacts,
  checkCutover,
  cutoverChecklist,
  type DatabaseAccess,
  divideAccepted,
  type FollowLine,
  firstOpenLine,
  followCutover,
  formatChecklist,
  hasMigrationFailed,
  isUnread,
  listAcceptable,
  openFollowView,
  readTargetServer,
  renderWindowPage,
  targetPsqlCommand,
} from '../../db/cutover/index.ts';
import { requireWritable, writeReport } from '../../db/preflight/report-files.ts';
import {
  type DbSource,
  quotedSourceArgs,
  readSource,
  sourceOptionSpecs,
  sourceUrlText,
  targetUrlText,
} from '../../db/source/index.ts';
import { type FailureCommands, helpWithFailures, saveWatchedTarget, sourceAddress } from '../../db/watch/index.ts';
import { loadBaseline, pathOfBaseline, pathOfRecord, readRecord } from '../../db/watch/record.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';
import { clusterArgument, readClusterUuid, resolveInterruptedMigrationRequest, undoScriptNote } from './migration.ts';

import { watchMigrationOptionSpecs } from './watch.ts';

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

export const dbCutoverCommand: CommandSpec<CommandContext> = {
  description:
    'Prints a checklist for the cut-over, with the state of each line, and the command for the next one: the target accepts the login; nothing writes to the source; the target has received everything; the sequences of the target have the values of the source (PostgreSQL); source and target have the same contents; the migration is stopped. For PostgreSQL also: extensions, definitions, passwords, large objects, materialized views, statistics, roles, owners and privileges, default privileges, settings. Run it again after each step. It only reads, from both servers and from the service; it changes nothing.\n\nWith --follow it keeps its connections and shows the lines turn green: it waits for the end of the writes, lists the sessions that could write, prints how to keep them out, and compares both sides at once. With --apply it then sets the sequences of the target, stops the migration, waits until nothing of it is left, and runs ANALYZE and the statements of `db grants` on the target; without, it prints these commands and waits for their effect. A run that was interrupted is continued by the same command.\n\nA line that depends on the ones above is checked when they are done. The comparison of the contents reads all rows of both servers, so it takes as long as a copy. The password of the target is read from the address, CLOUDCTL_TARGET_PASSWORD, .pgpass, PGPASSWORD or REDISCLI_AUTH. Exit code 0: every line is done, and the application can be switched to the target. 5: a line is left.',
  arguments: [clusterArgument],
  options: [
    ...sourceOptionSpecs,
    {
      name: 'target',
      valueName: 'URL',
      description: 'Target server: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT',
    },
    ...watchMigrationOptionSpecs.filter(({ name }) => name === 'slot'),
    {
      name: 'accept',
      valueName: 'LINE|TABLE',
      multiple: 'list',
      description:
        'Count a line, such as passwords, or a table that cannot be compared, as DATABASE:SCHEMA.TABLE, as checked by you',
    },
    { name: 'follow', description: 'Keep the connections, and follow the cut-over until every line is done' },
    {
      name: 'apply',
      description:
        'With --follow: set the sequences, stop the migration and restore owners and privileges, after one confirmation',
    },
    {
      name: 'compare',
      valueName: 'WHICH',
      choices: ['all', 'changed', 'none'],
      description: 'With --follow: compare all tables (default), those that changed since the start, or none',
    },
    {
      name: 'wait-timeout',
      valueName: 'DURATION',
      description: 'With --follow: end with exit code 5 after so long without progress (default: 1h)',
    },
    {
      name: 'report',
      valueName: 'FILE.html',
      completion: 'file',
      description: 'With --follow: write each step, with its time and its evidence, to this file',
    },
  ],
  examples: [
    {
      text: 'See what is left to do before the cut-over',
      command:
        'cloudctl db cutover 3b643ad7-65aa-4066-b45b-1c64b6db600a --source postgres://mover@db.example.com/shop --target postgres://admin@cluster.example.com:25061/defaultdb',
    },
  ],
  fields: ['at', 'id', 'state', 'title', 'observed'],
  run: async (context, args) => {
    const cluster = readClusterUuid(args);
    const { host, output, progress } = context;
    output.checkColumns(view);
    const settings = context.settings();
    const accepted = divideAccepted(args.values('accept'), acceptableLines);
    const given = readFollowArgs(context, args);
    const source = await readSource(context, args);
    const target = await readTargetServer(context, {
      typed: args.value('target'),
      engine: source.engine,
      allowCleartextPassword: args.has('allow-cleartext-password'),
    });
    const api = await context.api(settings);
    await resolveInterruptedMigrationRequest(context, api, cluster);
    const recordPath = pathOfRecord(host.folders.state, sourceAddress(source));
    if (given !== undefined) return follow(context, args, { cluster, source, target, api, recordPath, given });
    const facts = await runUntilSignal(host.signals, 'the checks were interrupted; nothing was changed', (signal) =>
      checkCutover(api, {
        ...{ cluster, source, target, clock: host.clock, signal },
        ignoreDbs: args.values('ignore-dbs'),
        slots: args.values('slot'),
        acceptedTables: accepted.tables,
        record: readRecord(recordPath),
        onCheck: (what) => void progress.show(sanitizeReportLine(what)),
      }),
    ).finally(() => progress.stop());
    if (facts.targetFailure === undefined) saveWatchedTarget(recordPath, cluster, targetUrlText(target));
    const lines = cutoverChecklist({ ...facts, accepted: accepted.lines });
    const isShaped = context.globals.values('format').length > 0 || context.globals.value('query') !== undefined;
    if (output.format === 'table' && !isShaped) await output.prose(formatChecklist(lines));
    else await output.list(lines, view);
    const { migration } = facts;
    // They say what the migration did not copy, which the last lines have proven to be there.
    const isRestored = lines.every(({ id, state }) => id === 'passwords' || state === 'done');
    if (typeof migration !== 'string' && !isRestored)
      for (const text of migration.warnings ?? []) await output.warn(text);
    const open = hasMigrationFailed(facts) ? lines.find(({ id }) => id === 'stopped') : firstOpenLine(lines);
    if (open === undefined) {
      await output.note([
        'Every step is done. Next, switch the application to the target.',
        ...notCopied(source),
        undoScriptNote,
      ]);
      return 0;
    }
    // The hint tells the user to paste this command, so the command contains the correction.
    const corrected: DbSource =
      facts.isTargetWithoutTls === true && target.engine === 'postgresql'
        ? { engine: 'postgresql', source: { ...target.source, ssl: 'disable' } }
        : target;
    const left = lines.filter(({ state }) => state !== 'done').length;
    throw new CliError(
      'cutover_incomplete',
      `${lines.length - left} of ${lines.length} steps of the cut-over are done`,
      {
        detail: sanitizeReportLine(`${open.title}: ${open.observed}`),
        hint: nextStep(open, commandsOf(context, args, cluster, source, corrected, facts), facts).slice(
          0,
          maxSanitizedTextLength,
        ),
      },
    );
  },
};

interface FollowArgs {
  readonly isApplied: boolean;
  readonly compared: ComparedTables;
  readonly waitTimeout: number;
  readonly report: string | undefined;
}

/** What `--follow` was given; undefined without it. A wrong or unconfirmed command line is refused before any request. */
function readFollowArgs({ prompts, globals }: CommandContext, args: ParsedArgs): FollowArgs | undefined {
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
  const compared = (['all', 'changed', 'none'] as const).find((one) => one === (args.value('compare') ?? 'all'));
  const report = args.value('report');
  requireWritable(report);
  return {
    isApplied,
    compared: compared ?? 'all',
    waitTimeout: parseDurationToMillisecondsOrThrow(args.value('wait-timeout') ?? '1h', '--wait-timeout', 1000),
    report,
  };
}

interface FollowInput {
  readonly cluster: string;
  readonly source: DbSource;
  readonly target: DbSource;
  readonly api: ApiClient;
  readonly recordPath: string;
  readonly given: FollowArgs;
}

async function follow(
  context: CommandContext,
  args: ParsedArgs,
  { cluster, source, target, api, recordPath, given }: FollowInput,
): Promise<0> {
  const { host, output, prompts } = context;
  const settings = context.settings();
  const accepted = divideAccepted(args.values('accept'), acceptableLines);
  const followView = await openFollowView(context, view);
  const commands = commandsOf(context, args, cluster, source, target, {});
  const confirm = async (): Promise<void> => {
    if (!given.isApplied) return;
    const actor = await describeActor(context, settings, await readStoredAccountAndServerOrigins(context, settings));
    const stop = `stop the migration into cluster ${cluster} as ${actor}`;
    const steps =
      source.engine === 'redis'
        ? stop
        : `set the sequences of the target, ${stop}, and restore owners and privileges on the target`;
    const message = `When nothing writes any more and the contents are equal: ${steps}? A stopped migration cannot be continued.`;
    followView.leave();
    if (!(await prompts.confirm({ message })))
      throw new CliError('cancelled', 'the cut-over was not begun', { hint: 'run it without `--apply` to only look' });
  };
  const result = await followCutover(api, {
    confirm,
    ...{ cluster, source, target, clock: host.clock, signals: host.signals, view: followView, commands },
    ignoreDbs: args.values('ignore-dbs'),
    ...given,
    accepted: accepted.lines,
    acceptedTables: accepted.tables,
    helpWith: (line, facts) => nextStep(line, commandsOf(context, args, cluster, source, target, facts), facts),
    slots: args.values('slot'),
    record: readRecord(recordPath),
    baseline: loadBaseline(pathOfBaseline(host.folders.state, sourceAddress(source), cluster)),
    loginHints: refusedHints(settings, host.folders.config),
    onTarget: () => saveWatchedTarget(recordPath, cluster, targetUrlText(target)),
  });
  await followView.close(result.lines);
  if (given.report !== undefined) {
    const names = { source: sourceUrlText(source), target: targetUrlText(target) };
    writeReport(given.report, renderWindowPage({ result, cluster, ...names }));
  }
  if (result.failure !== undefined) throw result.failure;
  await output.note([
    'Every step is done. Next, switch the application to the target.',
    ...result.unproven.map((one) => sanitizeReportLine(`Not proven: ${one}.`)),
    ...notCopied(source),
    undoScriptNote,
  ]);
  return 0;
}

/** What no line of the checklist looks at. */
function notCopied({ engine }: DbSource): readonly string[] {
  return engine === 'redis'
    ? [
        'Not proven: that the target has the ACL users and the configuration of the source. Replication does not copy them.',
      ]
    : [];
}

type NextCommands = FailureCommands &
  Readonly<
    Record<
      | 'remains'
      | 'watch'
      | 'sequences'
      | 'compare'
      | 'status'
      | 'follow'
      | 'again'
      | 'grants'
      | 'script'
      | 'psql'
      | 'accept'
      // Makes the login of the target a member of the owners; empty if it is one.
      | 'join'
      // Ends that membership.
      | 'leave'
      // Whose tables and views are left to a superuser, as the end of a hint; empty if none.
      | 'kept',
      string
    >
  >;

function nextStep(
  { id, state }: ChecklistLine,
  commands: NextCommands,
  { targetHint, access, migration, contents }: Pick<CutoverFacts, 'targetHint' | 'access' | 'migration' | 'contents'>,
): string {
  const acceptable = typeof contents === 'object' ? listAcceptable(contents) : [];
  if (typeof migration !== 'string' && hasMigrationFailed({ migration }))
    return helpWithFailures(migration.failures ?? [], !migration.hasEnded, commands);
  const correct = `correct the problem in the column Observed, then run \`${commands.again}\``;
  if ((id === 'extensions' || id === 'definitions' || id === 'passwords') && isUnread(access)) return correct;
  switch (id) {
    case 'target':
      return `${targetHint}; then run \`${commands.again}\``;
    case 'extensions':
      return `run CREATE EXTENSION for each in \`${commands.psql}\`, then \`${commands.again}\``;
    case 'definitions':
      return `make the same change in \`${commands.psql}\`, then run \`${commands.again}\``;
    case 'passwords':
      return state === 'open'
        ? `set each password with \\password in \`${commands.psql}\`, then run \`${commands.again}\``
        : `log in to the target as each role, or set its password with \\password in \`${commands.psql}\`; then run \`${commands.accept} ${id}\``;
    case 'writes':
      return `stop the application, then run \`${commands.again}\``;
    case 'lag':
      return state === 'unknown' ? `run \`${commands.compare}\`` : `run \`${commands.watch}\``;
    case 'sequences':
      return state === 'unknown' ? correct : `run \`${commands.sequences}\`, then \`${commands.again}\``;
    case 'contents':
      return acceptable.length > 0
        ? `check ${acceptable.length === 1 ? 'it' : 'them'} yourself, then run \`${commands.again}${acceptWords(acceptable)}\``
        : `run \`${commands.compare}\``;
    case 'large_objects':
      return `run \`${commands.compare}\``;
    case 'clean':
      return `see what is left, and remove it: run \`${commands.remains}\`, then \`${commands.again}\``;
    case 'stopped':
      if (state === 'unknown') return `run \`${commands.status}\``;
      return typeof migration !== 'string' && migration.isStopping
        ? `wait for the end with \`${commands.follow}\`, then run \`${commands.again}\``
        : `run \`${commands.stop}\``;
    case 'materialized_views':
      if (commands.join !== '')
        return `run \`${commands.join}\`, REFRESH MATERIALIZED VIEW for each in \`${commands.psql}\`, then \`${commands.leave}\` and \`${commands.again}\`${commands.kept}`;
      return `run REFRESH MATERIALIZED VIEW for each in \`${commands.psql}\`, then \`${commands.again}\`${commands.kept}`;
    case 'grants':
    case 'defaults':
    case 'settings':
      return isLeftToOthers(id, access)
        ? `let a superuser of the target run the comments of \`${commands.grants}\`, or run \`${commands.accept} ${id}\``
        : `run \`${commands.script}\`, then \`${commands.again}\``;
    case 'statistics':
      if (commands.join !== '')
        return `run \`${commands.join} -c ANALYZE\`, then \`${commands.leave}\` and \`${commands.again}\`${commands.kept}`;
      return `run ANALYZE in \`${commands.psql}\`, then \`${commands.again}\`${commands.kept}`;
    default:
      return id satisfies never;
  }
}

function isOpen({ state, statements }: DatabaseAccess): boolean {
  return statements.length > 0 || Object.values(state ?? {}).some((found) => found.length > 0);
}

/** Whether the login of the target can run nothing of what the line lacks. */
function isLeftToOthers(id: 'grants' | 'defaults' | 'settings', access: CutoverFacts['access']): boolean {
  if (typeof access !== 'object') return false;
  const ofLine = (section: string): boolean =>
    id === 'grants' ? /^(roles|owners|grants)$/.test(section) : section === id;
  return access.databases
    .flatMap(({ statements }) => statements)
    .every(({ section, left }) => !ofLine(section) || left !== undefined);
}

/** Shell commands that can be pasted and contain no passwords. */
function commandsOf(
  context: CommandContext,
  args: ParsedArgs,
  cluster: string,
  source: DbSource,
  target: DbSource,
  { access }: Pick<CutoverFacts, 'access'>,
): NextCommands {
  const profile = formatProfileAndServerOptions(context.globals, context.settings().profile);
  const from = quotedSourceArgs(source, {
    ignoreDbs: args.values('ignore-dbs'),
    caFile: args.value('ca-file'),
  });
  const slots = args.values('slot').flatMap((slot) => ['--slot', quoteShellArg(slot)]);
  const accepted = args.values('accept').flatMap((one) => ['--accept', quoteShellArg(one)]);
  const to = quoteShellArg(targetUrlText(target));
  // psql enters the first database in which something is left.
  const dbname = typeof access === 'object' ? access.databases.find(isOpen)?.database : undefined;
  const inside: DbSource =
    target.engine === 'postgresql' && dbname !== undefined
      ? { engine: 'postgresql', source: { ...target.source, dbname } }
      : target;
  const psql = targetPsqlCommand(target, context.host.env);
  const open = typeof access === 'object' ? access.databases.find(isOpen)?.state : undefined;
  const owners = open?.foreignOwners ?? [];
  // Redis has no owners, and no name to quote.
  const login = target.engine === 'postgresql' ? quoteIdentifier(target.source.username) : '';
  const roles = owners.map(quoteIdentifier).join(', ');
  const kept = (open?.keptOwners ?? []).map(quoteIdentifier).join(', ');
  const member = (statement: string): string =>
    owners.length === 0 ? '' : `${targetPsqlCommand(inside, context.host.env)} -c ${quoteShellArg(statement)}`;
  const command = (...words: readonly string[]): string => ['cloudctl db', ...words].join(' ');
  const again = command(
    'cutover',
    cluster,
    ...from,
    ...slots,
    '--target',
    to,
    ...followWords(context, args),
    ...profile,
    ...accepted,
  );
  return {
    watch: command('watch', ...from, ...slots, '--until-idle'),
    sequences: `${command('sequences', ...from)} | ${psql}`,
    grants: command('grants', ...from, '--target', to),
    script: `${command('grants', ...from, '--target', to)} | ${psql}`,
    psql: targetPsqlCommand(inside, context.host.env),
    join: member(`GRANT ${roles} TO ${login}`),
    leave: member(`REVOKE ${roles} FROM ${login}`),
    kept:
      kept === ''
        ? ''
        : `; a superuser does it for what ${sanitizeReportLine(kept, 300)} ${open?.keptOwners.length === 1 ? 'owns' : 'own'}`,
    accept: `${again} --accept`,
    compare: command('compare', ...from, '--target', to),
    status: command('status', cluster, ...profile),
    follow: command('status', cluster, '--watch', ...profile),
    preflight: command('preflight', ...from),
    migrate: command('migrate', cluster, ...from, ...profile),
    stop: command('stop', cluster, ...profile),
    remains: command('stop', cluster, ...from, ...profile),
    again,
  };
}

/** The words with which a followed cut-over is continued. */
function followWords({ globals }: CommandContext, args: ParsedArgs): readonly string[] {
  const flags = ['follow', 'apply'].flatMap((name) => (args.has(name) ? [`--${name}`] : []));
  const values = ['compare', 'wait-timeout', 'report'].flatMap((name) => {
    const value = args.value(name);
    return value === undefined ? [] : [`--${name}`, quoteShellArg(value)];
  });
  return [...flags, ...values, ...(args.has('apply') && globals.has('yes') ? ['--yes'] : [])];
}
