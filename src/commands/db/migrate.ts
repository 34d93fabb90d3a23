import { startOnlineMigration } from '../../api/databases.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { maxTextLength } from '../../cli/command-io.ts';
import type { Context } from '../../context.ts';
import { manualCopyCommands } from '../../db-source/manual-copy.ts';
import { type DbSource, readDbSource, sourceOptionSpecs } from '../../db-source/read-source.ts';
import { CliError, usageError } from '../../errors.ts';
import { canWrite } from '../../oauth/scope.ts';
import { textReport } from '../../preflight/formats/text-report.ts';
import { preflightOptionSpecs, readPreflightOptions } from '../../preflight/option-specs.ts';
import type { PreflightReport } from '../../preflight/report.ts';
import {
  methodNotPossibleError,
  type PreflightOutcome,
  reportOptionSpecs,
  runPreflightWithFiles,
} from '../../preflight/run-with-files.ts';
import { loginHints } from '../../session/session-binding.ts';
import { listExistingSlots } from '../../watch/existing-slots.ts';
import { sourceNameOf, watchMigration } from '../../watch/follow-migration.ts';
import { formatSourceName, type RecordedStart, watchRecordPath, writeWatchRecord } from '../../watch/watch-record.ts';
import { readWatchArgs, watchOptionSpecs } from './watch.ts';

interface Migrated {
  readonly id: string;
  readonly status: string;
  readonly created_at: string;
  readonly deadline: string;
  readonly preflight?: PreflightReport;
}

const view = {
  columns: [
    { name: 'ID', value: (row: Migrated) => row.id },
    { name: 'Status', value: (row: Migrated) => row.status },
    { name: 'CreatedAt', value: (row: Migrated) => row.created_at },
    { name: 'Deadline', value: (row: Migrated) => row.deadline },
  ],
};

export const dbMigrateCommand: CommandSpec<Context> = {
  description:
    'Runs the preflight first. If the continuous migration is possible it is started, after a question in a terminal; otherwise nothing is sent and the exit code is 3. The service is told host, database, port, user and password of the source, and nothing else is told the password. It replicates until it is stopped, two weeks at most.',
  arguments: [{ name: 'CLUSTER_UUID', description: 'UUID of the managed cluster that is filled', required: true }],
  options: [
    ...sourceOptionSpecs,
    ...preflightOptionSpecs,
    ...reportOptionSpecs,
    { name: 'skip-preflight', description: 'start without judging the source' },
    { name: 'watch', description: 'follow the migration once it is accepted, as `db watch` does' },
    ...watchOptionSpecs,
  ],
  examples: [
    {
      text: 'From the old server into the cluster',
      command:
        'PGPASSWORD=… cloudctl db migrate 3b643ad7-65aa-4066-b45b-1c64b6db600a --source postgres://mover@db.example.com/shop',
    },
    {
      text: 'Leave two databases out',
      command:
        'cloudctl db migrate 3b643ad7-65aa-4066-b45b-1c64b6db600a --source postgres://mover@db.example.com/shop --ignore-dbs scratch,old',
    },
  ],
  run: async (context, words) => {
    const cluster = readClusterUuid(words);
    requireWatchFlag(words);
    const settings = context.settings();
    const source = await readDbSource(context, words);
    const wish = readPreflightOptions(words, source.engine, settings, context.host.clock.now());
    await requireWrite(context);
    const judged = words.has('skip-preflight') ? undefined : await runPreflightWithFiles(context, words, source, wish);
    if (judged !== undefined) await showPreflight(context, judged);
    if (wish.method !== 'continuous') throw methodNotStartableError(source, wish.method);
    if (judged !== undefined && !judged.report.ok) throw methodNotPossibleError(judged.report, words.value('fix-sql'));
    await confirm(context, source, cluster);
    const api = await context.api(settings);
    const before = judged === undefined ? undefined : await listExistingSlots(source, 5000);
    const started = await startOnlineMigration(api, cluster, requestOf(source, words));
    const begun = Date.parse(started.createdAt) || context.host.clock.now();
    const deadline = new Date(begun + 14 * 86_400_000).toISOString().replace('.000Z', 'Z');
    const result: Migrated = {
      id: started.id,
      status: started.status,
      created_at: started.createdAt,
      deadline,
      ...(judged === undefined ? {} : { preflight: judged.report }),
    };
    await recordMigration(context, source, { at: begun, cluster, id: started.id }, judged?.report, before);
    await context.output.object(result, view);
    await context.output.note(acceptedText(source.engine, deadline));
    return words.has('watch') ? watchMigration(context, readWatchArgs(words, source, words.has('show-queries'))) : 0;
  },
};

function readClusterUuid(words: ParsedArgs): string {
  const [typed = ''] = words.positionals;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(typed)) return typed.toLowerCase();
  throw usageError(
    'CLUSTER_UUID is not a UUID',
    'copy it from the control panel; it looks like 3b643ad7-65aa-4066-b45b-1c64b6db600a',
  );
}

/** Words of the watch mean nothing where nobody watches. */
function requireWatchFlag(words: ParsedArgs): void {
  if (words.has('watch')) return;
  const idle = watchOptionSpecs.find(({ name }) => words.values(name).length > 0);
  if (idle !== undefined) throw usageError(`cannot use --${idle.name} without --watch`, 'add `--watch`');
}

/** Known before the source is asked anything: a session that cannot write would only fail in the end. */
async function requireWrite(context: Context): Promise<void> {
  const settings = context.settings();
  if (settings.accessToken !== undefined) return;
  const record = await context.session(settings).record();
  if (canWrite(record.scope)) return;
  throw new CliError('scope_too_small', "the session's scope does not allow to start a migration", {
    detail: `its scope is ${record.scope}`,
    hint: loginHints(settings, context.host.folders.config).write,
  });
}

async function showPreflight(context: Context, { report, changes }: PreflightOutcome): Promise<void> {
  const plain = (text: string): string => text;
  await context.output.note(
    textReport(report, { bold: plain, dim: plain, red: plain, yellow: plain }, changes),
    maxTextLength,
  );
}

/** The request has no method (spec.md §4.5): what is sent is a continuous migration, so another one is a person's work. */
function methodNotStartableError(source: DbSource, method: 'dump' | 'scan'): CliError {
  return usageError(
    `cannot start a ${method}: the service's online migration is continuous; nothing was sent`,
    'run the commands of the detail by hand',
    manualCopyCommands(source),
  );
}

async function confirm(context: Context, { source }: DbSource, cluster: string): Promise<void> {
  if (!context.prompts.interactive) return;
  const message = `Start the online migration of ${source.host}:${source.port} into cluster ${cluster}?`;
  if (await context.prompts.confirm({ message })) return;
  throw new CliError('cancelled', 'the migration was not started', {
    hint: 'nothing was sent; run the command again to start it',
  });
}

function requestOf({ engine, source }: DbSource, words: ParsedArgs): Parameters<typeof startOnlineMigration>[2] {
  const ignoreDbs = words.values('ignore-dbs');
  return {
    source: {
      host: source.host,
      ...(engine === 'postgresql' ? { dbname: source.dbname } : {}),
      port: source.port,
      ...(source.username === undefined ? {} : { username: source.username }),
      ...(source.password === undefined ? {} : { password: source.password }),
    },
    disableSsl: source.ssl === 'disable',
    ...(ignoreDbs.length === 0 ? {} : { ignoreDbs }),
  };
}

/** For `db watch`: from when the two weeks run, and what of the source is not the migration's. It is accepted whatever happens here. */
async function recordMigration(
  context: Context,
  source: DbSource,
  started: RecordedStart,
  report: PreflightReport | undefined,
  before: readonly string[] | undefined,
): Promise<void> {
  const name = sourceNameOf(source);
  const warned = report?.findings.filter(({ status }) => status === 'warn' || status === 'fail').map(({ id }) => id);
  try {
    writeWatchRecord(watchRecordPath(context.host.folders.state, name), {
      engine: source.engine,
      source: formatSourceName(name),
      started,
      ...(before === undefined ? {} : { before }),
      ...(warned === undefined ? {} : { warned: [...new Set(warned)] }),
    });
  } catch (error) {
    await context.output.warn(
      `could not write down when it started: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** spec.md §4.6: what must not be done meanwhile, and what must be undone afterwards. */
function acceptedText(engine: DbSource['engine'], deadline: string): string {
  const rules =
    engine === 'redis'
      ? ['do not change the replication configuration of the source, nor anything between the two databases']
      : [
          'do not write to the tables on the target that are being migrated',
          'do not change the replication configuration of the source, wal_level or max_replication_slots',
          'do not change anything that breaks the connection between the two databases',
        ];
  return [
    `The migration is accepted and runs until it is stopped, at the latest until ${deadline}. Accepted does not mean that a row was copied.`,
    ...rules.map((rule) => `  ${rule}`),
    'Afterwards restore the firewall rules and trusted sources that were opened for it.',
  ].join('\n');
}
