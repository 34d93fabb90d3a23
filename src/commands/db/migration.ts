import type { ApiClient } from '../../api/client.ts';
import {
  buildOnlineMigrationPath,
  describeMigrationFailures,
  fetchOnlineMigration,
  isFailedMigrationStatus,
  isMigrationActive,
  isMigrationStopping,
  listMigrationFailures,
  type OnlineMigration,
  readMigratedDatabases,
} from '../../api/online-migration.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { isLosslessNumberObject } from '../../base/exact.ts';
import { compareAccountsAndServerOrigins } from '../../base/identity.ts';
import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../base/json.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { countOf, formatBytes } from '../../base/text.ts';
import type { ListView, OutputCellValue } from '../../cli/columns.ts';
import type { ArgumentSpec, ParsedArgs } from '../../cli/command.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { readStoredAccountAndServerOrigins } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import type { DbSource } from '../../db/source/index.ts';
import {
  failureHeadline,
  findRequests,
  formatIdentity,
  helpWithFailures,
  type RequestOutcome,
  resolveRequest,
  sourceAddress,
} from '../../db/watch/index.ts';
import { listStarted, type RecordedStart, type StartedRecord } from '../../db/watch/record.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';

export const clusterArgument: ArgumentSpec = {
  name: 'CLUSTER_UUID',
  description: 'UUID of the managed cluster that receives the data; `cloudctl db list` prints it',
  required: true,
  completion: { from: 'cluster' },
  listedBy: 'cloudctl db list',
};

/** The UUID of the cluster on the command line, in lower case. Throws `usage` for an argument that is not a UUID. */
export function readClusterUuid(args: ParsedArgs): string {
  const [typed = ''] = args.positionals;
  if (isClusterUuid(typed)) return typed.toLowerCase();
  throw usageError(
    'CLUSTER_UUID is not a UUID',
    'list the clusters with `cloudctl db list`, or copy the UUID from the control panel',
  );
}

export function isClusterUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** The rules of docs/service.md S9 that apply during a migration and after it, one line each. */
export function describeRestrictionsDuringMigration(engine: DbSource['engine']): readonly string[] {
  const rules =
    engine === 'redis'
      ? ['do not change the replication configuration of the source, or the connection between the two databases']
      : [
          'do not write to the migrated tables on the target',
          'do not change the replication configuration of the source, wal_level or max_replication_slots',
          'do not interrupt the connection between the two databases',
        ];
  return [
    'While a migration runs:',
    ...rules.map((rule) => `  ${rule}`),
    'After the migration, restore the firewall rules and trusted sources that were opened for it.',
  ];
}

/** Printed again when the migration is over, because the user may have written the undo script weeks earlier. */
export const undoScriptNote =
  'Then restore the settings of the source: run the undo script, if `db preflight --undo-sql` wrote one. Some settings change back only when the server is restarted.';

/** Determines and prints the result of a request to migrate into this cluster whose run was interrupted. Throws a CliError. */
export async function resolveInterruptedMigrationRequest(
  context: CommandContext,
  api: ApiClient,
  cluster: string,
): Promise<RequestOutcome | undefined> {
  const { host, output } = context;
  const identity = await readStoredAccountAndServerOrigins(context, context.settings());
  const now = host.clock.now();
  const resolved = await resolveRequest({ api, stateFolder: host.folders.state, now, identity }, cluster);
  if (resolved !== undefined) await output.note(resolved.note);
  return resolved;
}

/**
 * Reads the recorded migration from the service. Rejects when the profile belongs to another service or account than the
 * record, because the same UUID would identify another cluster there.
 */
export function createStatusFetcherOfRecordedMigration(
  context: CommandContext,
): (started: RecordedStart, signal: AbortSignal) => Promise<OnlineMigration | undefined> {
  return async ({ cluster, identity }, until) => {
    const settings = context.settings();
    const current = await readStoredAccountAndServerOrigins(context, settings);
    if (compareAccountsAndServerOrigins(identity, current) === 'different')
      throw new CliError('usage', 'the profile is not the one that started the migration');
    return fetchOnlineMigration(await context.api(settings), cluster, { until });
  };
}

/**
 * Determines and prints the result of an interrupted migration request for a source. If the service cannot be reached, the
 * watch continues, because it needs only the source.
 */
export async function resolveInterruptedMigrationRequests(context: CommandContext, source: DbSource): Promise<void> {
  const starts = findRequests(context.host.folders.state, sourceAddress(source));
  for (const { cluster, baseOrigin, at } of starts) {
    try {
      const settings = context.settings();
      if (settings.values.base_url !== baseOrigin)
        throw new CliError('usage', `the profile belongs to another service than ${baseOrigin}`);
      await resolveInterruptedMigrationRequest(context, await context.api(settings), cluster);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      await context.output.note(
        `A run that was interrupted after ${new Date(at).toISOString()} may have started a migration of this source; the status of the migration could not be read: ${error.message}. Next: cloudctl db status ${cluster}`,
      );
    }
  }
}

/** The members of a migration, as far as the service sends them. */
export const migrationFields = [
  'id',
  'status',
  'created_at',
  'deadline',
  'stopped_at',
  'reason',
  'data_plane',
  'method',
  'databases',
  'warnings',
  'leftovers',
];

/** Columns of a migration; a cell is empty when the service does not send the value. */
export const migrationListView: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => cellOf(row.id) },
    { name: 'Status', value: (row) => statusCell(row) },
    { name: 'CreatedAt', value: (row) => cellOf(row.created_at) },
    { name: 'Deadline', value: (row) => cellOf(row.deadline) },
    { name: 'StoppedAt', value: (row) => cellOf(row.stopped_at) },
    { name: 'Reason', value: (row) => cellOf(row.reason) },
  ],
};

/** The service goes on with the other databases when one has failed, and its status does not say so. */
function statusCell(raw: JsonRecord): OutputCellValue {
  const databases = readMigratedDatabases({ raw });
  const failed = databases.filter(({ failure }) => failure !== undefined).length;
  if (failed === 0 || isFailedMigrationStatus(readStringField(raw, 'status'))) return cellOf(raw.status);
  return `${cellOf(raw.status) ?? 'unknown'} (${failed} of ${countOf(databases.length, 'database')} failed)`;
}

export function noMigrationError(cluster: string): CliError {
  return new CliError('not_found', `the service shows no migration into cluster ${cluster}`, {
    detail: `GET ${buildOnlineMigrationPath(cluster)}: not found; the cluster does not exist, belongs to another account, or had no migration yet`,
    hint: 'list the clusters with `cloudctl db list`; start a migration with `cloudctl db migrate`',
  });
}

/** Formats the status of a migration as one line, followed by one line for each database. */
export function formatMigrationStatusLines(raw: JsonRecord): readonly string[] {
  const reason = readStringField(raw, 'reason');
  const status = readStringField(raw, 'status') ?? 'unknown';
  return [`Status ${status}${reason === undefined ? '' : `: ${reason}`}`, ...formatMigrationDatabaseLines(raw)];
}

/** Formats one line for each database, with the values that the service sends. */
export function formatMigrationDatabaseLines(raw: JsonRecord): readonly string[] {
  const databases = Array.isArray(raw.databases) ? raw.databases : [];
  return databases.filter(isJsonRecord).map((database) => {
    const [ready, total] = [readNumberField(database, 'tables_ready'), readNumberField(database, 'tables_total')];
    const lag = readNumberField(database, 'lag_bytes');
    const reason = readStringField(database, 'error') ?? readStringField(database, 'reason');
    const parts = [
      readStringField(database, 'phase') ?? 'unknown',
      // Redis has no tables: the keys of a database are one.
      ...(ready === undefined || total === undefined || hasKeys(database)
        ? []
        : [`${ready} of ${total} tables copied`]),
      ...(lag === undefined ? [] : [`${formatBytes(lag)} behind`]),
      ...(reason === undefined ? [] : [reason]),
    ];
    return `  ${readStringField(database, 'name') ?? 'a database'}: ${parts.join(', ')}`;
  });
}

function hasKeys({ tables }: JsonRecord): boolean {
  const [first] = Array.isArray(tables) ? tables.filter(isJsonRecord) : [];
  return first !== undefined && readStringField(first, 'name') === 'keys';
}

/** Formats one line for each object that the service created and could not remove, with the statement that it names. */
export function formatMigrationLeftovers(raw: JsonRecord): readonly string[] {
  const leftovers = Array.isArray(raw.leftovers) ? raw.leftovers : [];
  return leftovers.filter(isJsonRecord).map((one) => {
    const text = (key: string): string => sanitizeLine(readStringField(one, key) ?? '');
    const where = text('database') === '' ? '' : `, database ${text('database')}`;
    return `the service could not remove ${text('object')} from the ${text('side')}${where}: ${text('reason')}; it names this statement: ${text('statement')}`;
  });
}

function cellOf(value: unknown): OutputCellValue {
  return typeof value === 'string' || typeof value === 'number' || isLosslessNumberObject(value) ? value : undefined;
}

/** Sentences that tell the user, for a migration in this state, what to do next and with which command. */
export function describeNextMigrationStep(
  context: CommandContext,
  cluster: string,
  migration: Pick<OnlineMigration, 'id' | 'status' | 'raw'>,
): readonly string[] {
  const help = helpWithMigration(context, cluster, migration);
  if (help !== undefined)
    return [
      `The service reports: ${help.headline}`,
      `Next, ${help.next}`,
      ...(isMigrationActive(migration) ? [] : [undoScriptNote]),
    ];
  const { from, command, target, identity } = commandsOfMigration(context, cluster, migration);
  if (isMigrationStopping(migration))
    return [`The migration is stopping. Next, wait for its end: ${command('status', cluster, '--watch')}`];
  const cutover = command('cutover', cluster, ...from, '--target', target);
  if (!isMigrationActive(migration))
    return [
      `Next, compare the contents of source and target, and see what is left of the cut-over: ${cutover}`,
      undoScriptNote,
    ];
  return [
    ...identity,
    `Next, follow the migration until the target has caught up: ${command('watch', ...from, '--until-idle')}`,
    `Then see what is left to do before the cut-over: ${cutover}`,
  ];
}

/** What failed in a migration, and what helps; undefined if nothing failed. */
export function helpWithMigration(
  context: CommandContext,
  cluster: string,
  migration: Pick<OnlineMigration, 'id' | 'status' | 'raw'>,
): { readonly headline: string; readonly reasons: string; readonly next: string } | undefined {
  const failures = listMigrationFailures(migration);
  if (failures.length === 0) return undefined;
  const { from, command } = commandsOfMigration(context, cluster, migration);
  const commands = {
    preflight: command('preflight', ...from),
    stop: command('stop', cluster),
    migrate: command('migrate', cluster, ...from),
  };
  return {
    headline: failureHeadline(failures),
    reasons: describeMigrationFailures(failures),
    next: helpWithFailures(failures, isMigrationActive(migration), commands),
  };
}

function commandsOfMigration(context: CommandContext, cluster: string, { id }: Pick<OnlineMigration, 'id'>) {
  const profile = formatProfileAndServerOptions(context.globals, context.settings().profile);
  const latest = listStarted(context.host.folders.state).find(({ started }) => started.cluster === cluster);
  // What is recorded of another migration says nothing about this one.
  const record = latest?.started.id === id ? latest : undefined;
  const from = (record?.sourceOptions ?? ['--source', 'URL']).map(quoteShellArg);
  const command = (...words: readonly string[]): string => ['cloudctl db', ...words, ...profile].join(' ');
  return { from, command, target: recordedTarget(record), identity: describeIdentity(latest, record) };
}

/** How the slots of the migration were identified on this machine; that another migration is recorded, if so. */
function describeIdentity(latest: StartedRecord | undefined, record: StartedRecord | undefined): readonly string[] {
  if (latest !== undefined && record === undefined && latest.started.id !== '')
    return [
      `This machine has recorded migration ${sanitizeLine(latest.started.id, 80)} into the cluster, not the one that the service shows.`,
    ];
  return (record?.slots ?? []).flatMap(({ name, database, grade, by }) => {
    if (grade === undefined || by === undefined) return [];
    const place = database === '' ? '' : `${sanitizeLine(database, 80)}: `;
    return [`  ${place}${sanitizeLine(name, 80)}, ${formatIdentity({ grade, by: sanitizeLine(by, 200) })}`];
  });
}

/** The target is known after `db cutover` has connected to it. */
function recordedTarget(record: StartedRecord | undefined): string {
  if (record === undefined) return 'URL';
  if (record.target !== undefined) return quoteShellArg(record.target);
  return record.engine === 'redis' ? 'rediss://HOST' : 'postgres://USER@HOST:PORT/DBNAME';
}
