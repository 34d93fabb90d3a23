import { loggedInProfiles } from '../../auth/session/index.ts';
import { maxTextLength } from '../../base/sanitize.ts';
import { quoteShellArg } from '../../base/text.ts';
import { createStyles, usesColor } from '../../cli/color.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { commandFor, tokenSource } from '../../config/settings.ts';
import { profileOptions } from '../../context/globals.ts';
import type { CommandContext } from '../../context.ts';
import { inspectTarget, readTargetOption } from '../../db/cutover/index.ts';
import {
  blockedError,
  type CheckFinding,
  deepPreflightSpecs,
  modelOf,
  type PreflightOptions,
  type ReportWithChanges,
  readDeepPreflight,
  renderTerminal,
  reportOptionSpecs,
  runWithFiles,
  type TerminalOptions,
} from '../../db/preflight/index.ts';
import { type DbSource, readSource, sourceOptionSpecs } from '../../db/source/index.ts';
import { sourceAddress } from '../../db/watch/index.ts';
import { pathOfRecord, readRecord } from '../../db/watch/record.ts';
import { runUntilSignal } from '../../platform/waiting.ts';

export const dbPreflight: CommandSpec<CommandContext> = {
  description:
    'Checks whether an external PostgreSQL or Redis database can be migrated online into a managed cluster: by continuous replication, only by a dump or scan, or not yet. The report lists every finding with its fix, and estimates how long the migration takes. Every statement runs in a read-only transaction; --show-queries prints them. The preflight tests the connection from this machine, not from the service. Exit code 3: the requested method is not possible.\n\n`cloudctl db inventory` checks many sources, and says what to fix first.',
  options: [...sourceOptionSpecs, readTargetOption, ...deepPreflightSpecs, ...reportOptionSpecs],
  examples: [
    {
      text: 'Check a source for a target version',
      command: 'PGPASSWORD=… cloudctl db preflight --source postgres://mover@db.example.com/shop --target-version 17',
    },
    {
      text: 'Write the fixes, and how to undo them, as scripts',
      command:
        'cloudctl db preflight --source postgres://mover@db.example.com/shop --fix-sql fix.sql --undo-sql undo.sql',
    },
    {
      text: 'Write reports for a change request',
      command:
        'cloudctl db preflight --source postgres://mover@db.example.com/shop --report preflight.html --report preflight.sarif',
    },
    {
      text: 'Read every row as well, at most 20 MB per second',
      command: 'cloudctl db preflight --source postgres://mover@db.example.com/shop --deep --deep-rate 20',
    },
    {
      text: 'Check a Redis source',
      command: 'cloudctl db preflight --source rediss://db.example.com:6379 --target-version 7.2',
    },
  ],
  // The report, and the findings of its rows.
  fields: [
    'schema_version',
    'engine',
    'verdict',
    'methods',
    'method',
    'ok',
    'proven',
    'premises',
    'data_loss',
    'source',
    'target',
    'summary',
    'databases',
    'findings',
    'advice',
    'verdict_after_fixes',
    'estimate',
    'largest_tables',
    'rows',
    'queries',
    'started_at',
    'duration_ms',
    'changes',
    'schemas',
    'id',
    'title',
    'headline',
    'scope',
    'database',
    'spec',
    'status',
    'blocks',
    'observed',
    'required',
    'detail',
    'objects',
    'fix',
    'premise',
    'settledBy',
    'dataLoss',
    'only',
    'accepted',
  ],
  run: async (context, args) => {
    const source = await readSource(context, args);
    const cluster = recordedCluster(context, source);
    const options = {
      ...readDeepPreflight(args, source.engine, context.settings(), context.host.clock.now()),
      ...(await readTargetFacts(context, args, source)),
      cluster,
    };
    const outcome = await runWithFiles(context, args, source, options);
    await showReport(context, outcome, { fixFile: args.value('fix-sql'), reportFiles: args.values('report') });
    if (!outcome.report.ok) {
      const status = commandFor(context.settings().profile, `db status ${cluster ?? 'CLUSTER_UUID'}`);
      throw blockedError(outcome.report, args.value('fix-sql'), status);
    }
    return 0;
  },
};

/** The cluster into which this machine started the latest migration of the source. */
export function recordedCluster({ host }: CommandContext, source: DbSource): string | undefined {
  return readRecord(pathOfRecord(host.folders.state, sourceAddress(source)))?.started?.cluster;
}

/** What the target that the options name reports about itself. */
export function readTargetFacts(
  context: CommandContext,
  args: ParsedArgs,
  { engine }: DbSource,
): Promise<Partial<PreflightOptions>> {
  const { host, output } = context;
  const onSend = (text: string) => {
    if (args.has('show-queries')) void output.show(`query sent to the target: ${text}`, maxTextLength);
  };
  return runUntilSignal(host.signals, 'the preflight was cancelled', (signal) =>
    inspectTarget(context, { args, engine, signal, onSend }),
  );
}

/** Prints the preflight report: as text in the table format, as one row per finding in csv and ndjson. */
async function showReport(
  context: CommandContext,
  { report, changes }: ReportWithChanges,
  files: Pick<TerminalOptions, 'fixFile' | 'reportFiles'>,
): Promise<void> {
  const { host, output, globals } = context;
  const asText =
    output.format === 'table' && globals.values('format').length === 0 && globals.value('query') === undefined;
  if (asText) {
    const isColored = usesColor({ sink: host.stdout, env: host.env, noColor: globals.has('no-color') });
    const styles = await createStyles(isColored);
    const isStartable = report.ok && report.method === 'continuous';
    const nextCommand = isStartable ? nextMigrationCommand(context) : undefined;
    // A file or a pipe has no columns, and keeps the whole row.
    const columns = host.stdout.columns ?? maxTextLength;
    await output.prose(renderTerminal(modelOf(report), styles, { changes, ...files, columns, nextCommand }));
    return;
  }
  if (
    output.format === 'csv' ||
    output.format === 'ndjson' ||
    (output.format === 'table' && globals.value('query') === undefined)
  ) {
    await output.list(report.findings, findingView);
    return;
  }
  await output.data({ ...report, ...(changes === undefined ? {} : { changes }) });
}

/** The next command. It names the current profile or, if that one has no session, the only profile that is logged in. */
function nextMigrationCommand(context: CommandContext): string {
  const { host, globals } = context;
  const settings = context.settings();
  const loggedIn = loggedInProfiles(context.config(), host.folders.config);
  const isUsable = tokenSource(settings) !== 'session' || loggedIn.includes(settings.profileName);
  const [only, ...more] = loggedIn;
  const profile =
    isUsable || only === undefined || more.length > 0
      ? profileOptions(globals, settings.profile)
      : ['--profile', quoteShellArg(only)];
  const command = (words: string): string => `\`${['cloudctl db', words, ...profile].join(' ')}\``;
  return `${command('migrate CLUSTER_UUID')} with the options of this command; ${command('list')} prints the UUID`;
}

const findingView = {
  isReport: true,
  columns: [
    { name: 'ID', value: (row: CheckFinding) => row.id },
    { name: 'Status', value: (row: CheckFinding) => row.status },
    { name: 'Database', value: (row: CheckFinding) => row.database },
    { name: 'Observed', value: (row: CheckFinding) => row.observed },
    { name: 'Required', value: (row: CheckFinding) => row.required },
    { name: 'Blocks', value: (row: CheckFinding) => row.blocks.join(',') },
    { name: 'Title', value: (row: CheckFinding) => row.title, extra: true },
    { name: 'Detail', value: (row: CheckFinding) => row.detail, extra: true },
    { name: 'Fix', value: (row: CheckFinding) => row.fix?.text, extra: true },
  ],
};
