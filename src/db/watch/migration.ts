import type { Actor } from '../../api/actor.ts';
import type { ApiClient } from '../../api/client.ts';
import {
  describeFailures,
  describeMigration,
  type FetchedMigration,
  fetchMigration,
  isFailedStatus,
  isMigrationActive,
  isMigrationStopping,
  listFailures,
  type Migration,
  migrationPath,
  readMigratedDatabases,
} from '../../api/online-migration.ts';
import { FailedReads } from '../../api/waits.ts';
import { CliError, type ExitCode } from '../../base/errors.ts';
import { isLossless } from '../../base/exact.ts';
import { compareIdentities } from '../../base/identity.ts';
import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../base/json.ts';
import { maxTextLength, sanitizeLine } from '../../base/sanitize.ts';
import { countOf, formatBytes, quoteShellArg } from '../../base/text.ts';
import type { CellValue, ListView } from '../../cli/columns.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { type DbSource, targetWords } from '../source/index.ts';
import { failureCommands, failureHeadline, helpWithFailures, warningLines } from './failures.ts';
import { describeBroken, formatIdentity, isBrokenPhase, listBrokenDatabases } from './identity.ts';
import { listStarted, type StartedRecord } from './record.ts';
import { classifyMessage, messageHints } from './service.ts';
import { sourceAddress } from './source.ts';
import { findRequests, type RequestOutcome, resolveRequest } from './start.ts';
import type { WatchOptions } from './watch.ts';

type Shown = Pick<Migration, 'id' | 'status' | 'raw'>;

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
export const migrationView: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => cellOf(row.id) },
    { name: 'Status', value: statusCell },
    { name: 'CreatedAt', value: (row) => cellOf(row.created_at) },
    { name: 'Deadline', value: (row) => cellOf(row.deadline) },
    { name: 'StoppedAt', value: (row) => cellOf(row.stopped_at) },
    { name: 'Reason', value: (row) => cellOf(row.reason) },
  ],
};

/** The service goes on with the other databases when one has failed, and its status does not say so. */
function statusCell(raw: JsonRecord): CellValue {
  const databases = readMigratedDatabases({ raw });
  const failed = databases.filter(({ failure }) => failure !== undefined).length;
  if (failed === 0 || isFailedStatus(readStringField(raw, 'status'))) return cellOf(raw.status);
  return `${cellOf(raw.status) ?? 'unknown'} (${failed} of ${countOf(databases.length, 'database')} failed)`;
}

function cellOf(value: unknown): CellValue {
  return typeof value === 'string' || typeof value === 'number' || isLossless(value) ? value : undefined;
}

/** The latest migration into a cluster. Throws `not_found` if the service shows none. */
export async function requireMigration(api: ApiClient, cluster: string): Promise<FetchedMigration> {
  const migration = await fetchMigration(api, cluster);
  if (migration !== undefined) return migration;
  throw new CliError('not_found', `the service shows no migration into cluster ${cluster}`, {
    detail: `GET ${migrationPath(cluster)}: not found; the cluster does not exist, belongs to another account, or had no migration yet`,
    hint: 'list the clusters with `cloudctl db list`; start a migration with `cloudctl db migrate`',
  });
}

/** Prints a migration, its databases and what to do next. */
export async function printMigration(
  io: CommandIo,
  actor: Actor,
  cluster: string,
  migration: Migration,
): Promise<void> {
  const { output } = io;
  await output.object(migration.raw, migrationView);
  // What has failed comes last, beside the next step, where a small screen still shows it.
  for (const { text } of warningLines(migration)) await output.warn(text);
  await output.note(leftoverLines(migration.raw), maxTextLength);
  await output.note(databaseLines(migration.raw));
  if (output.format === 'table') await output.note(nextSteps(io, actor, cluster, migration), maxTextLength);
}

/**
 * Prints each state of the migration until it has ended, and its final state. Throws `api_error` for a migration that failed.
 * @param interval milliseconds between two requests
 */
export async function followMigration(
  io: CommandIo,
  actor: Actor,
  cluster: string,
  { first, interval }: { readonly first: FetchedMigration; readonly interval: number },
): Promise<ExitCode> {
  const { host, output } = io;
  const api = await actor.api();
  let last = first;
  const poll = async function* (signal: AbortSignal): AsyncGenerator<JsonRecord> {
    let shown = '';
    const warned = new Set<string>();
    const failed = new FailedReads();
    failed.succeed();
    for (;;) {
      const lines = statusLines(last.raw);
      if (output.format !== 'ndjson' && shown !== lines.join()) await output.note(lines);
      shown = lines.join();
      for (const { key, text } of warningLines(last)) {
        if (!warned.has(key)) await output.warn(text);
        warned.add(key);
      }
      yield last.raw;
      if (!isMigrationActive(last)) return;
      await host.clock.sleep(interval, signal);
      try {
        const next = await requireMigration(api, cluster);
        if (next.id !== last.id) throw replacedError(actor, cluster, last, next);
        last = next;
        failed.succeed();
      } catch (error) {
        failed.add(error);
      }
    }
  };
  await runUntilSignal(host.signals, 'the watch was interrupted; the migration continues', async (signal) => {
    if (output.format === 'ndjson') return output.list(poll(signal), migrationView);
    for await (const _state of poll(signal)) signal.throwIfAborted();
    return output.object(last.raw, migrationView);
  });
  const help = helpWith(io, actor, cluster, last);
  if (help !== undefined)
    throw new CliError('api_error', `the migration into cluster ${cluster} ended with an error`, {
      detail: help.reasons,
      hint: help.next.slice(0, maxTextLength),
    });
  if (output.format === 'table') await output.note(nextSteps(io, actor, cluster, last), maxTextLength);
  return 0;
}

function replacedError({ command }: Actor, cluster: string, last: FetchedMigration, next: FetchedMigration): CliError {
  return new CliError('not_found', `the service shows another migration into cluster ${cluster}`, {
    detail: `${describeMigration(last)}; then ${describeMigration(next)}`,
    hint: `follow the other migration with \`${command('db status', cluster, '--watch')}\``,
  });
}

/** The status of a migration as one line, followed by one line for each database. */
function statusLines(raw: JsonRecord): readonly string[] {
  const reason = readStringField(raw, 'reason');
  const status = readStringField(raw, 'status') ?? 'unknown';
  return [`Status ${status}${reason === undefined ? '' : `: ${reason}`}`, ...databaseLines(raw)];
}

/** One line for each database, with the values that the service sends; those that receive nothing come last. */
function databaseLines(raw: JsonRecord): readonly string[] {
  const databases = Array.isArray(raw.databases) ? raw.databases.filter(isJsonRecord) : [];
  const isBroken = (database: JsonRecord): boolean => {
    const phase = readStringField(database, 'phase') ?? '';
    return readStringField(database, 'error') !== undefined || isBrokenPhase(phase);
  };
  const ordered = [...databases.filter((one) => !isBroken(one)), ...databases.filter(isBroken)];
  return ordered.map((database) => {
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

/** One line for each object that the service created and could not remove, with the statement that it names. */
export function leftoverLines(raw: JsonRecord, sides?: readonly string[]): readonly string[] {
  const leftovers = Array.isArray(raw.leftovers) ? raw.leftovers.filter(isJsonRecord) : [];
  const shown = leftovers.filter(({ side }) => sides === undefined || sides.includes(String(side)));
  return shown.map((one) => {
    const text = (key: string): string => sanitizeLine(readStringField(one, key) ?? '');
    const where = text('database') === '' ? '' : `, database ${text('database')}`;
    return `the service could not remove ${text('object')} from the ${text('side')}${where}: ${text('reason')}; it names this statement: ${text('statement')}`;
  });
}

/** The rules of docs/service.md S9 and of logical replication that apply during a migration and after it, one line each. */
export function restrictionLines(engine: DbSource['engine']): readonly string[] {
  const rules =
    engine === 'redis'
      ? ['do not change the replication configuration of the source, or the connection between the two databases']
      : [
          'do not create, alter or drop tables or types on the source: DDL is not replicated',
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
export const undoNote =
  'Then restore the settings of the source: run the undo script, if `db preflight --undo-sql` wrote one. Some settings change back only when the server is restarted.';

/** Sentences that tell the user, for a migration in this state, what to do next and with which command. */
export function nextSteps(io: CommandIo, actor: Actor, cluster: string, migration: Shown): readonly string[] {
  const help = helpWith(io, actor, cluster, migration);
  if (help !== undefined)
    return [
      `The service reports: ${help.headline}`,
      `Next, ${help.next}`,
      ...(isMigrationActive(migration) ? [] : [undoNote]),
    ];
  const { from, to, identity } = recorded(io, cluster, migration);
  if (isMigrationStopping(migration))
    return [`The migration is stopping. Next, wait for its end: ${actor.command('db status', cluster, '--watch')}`];
  const cutover = actor.command('db cutover', cluster, ...from, ...to);
  if (!isMigrationActive(migration))
    return [
      `Next, compare the contents of source and target, and see what is left of the cut-over: ${cutover}`,
      undoNote,
    ];
  const watch = actor.command('db watch', ...from, '--until-idle');
  const broken = listBrokenDatabases(migration);
  const [first] = broken;
  if (first !== undefined) {
    const hint = messageHints[classifyMessage(first.reason ?? '')?.rule ?? ''];
    return [
      ...identity,
      `${broken.length} of ${countOf(readMigratedDatabases(migration).length, 'database')} receive nothing: ${broken.slice(0, 3).map(describeBroken).join('; ')}`,
      `Next, ${hint === undefined ? '' : `${hint}; `}see what has stopped it, and which tables wait: ${watch}`,
    ];
  }
  return [
    ...identity,
    `Next, follow the migration until the target has caught up: ${watch}`,
    `Then see what is left to do before the cut-over: ${cutover}`,
  ];
}

/** What failed in a migration, and what helps; undefined if nothing failed. */
function helpWith(
  io: CommandIo,
  actor: Actor,
  cluster: string,
  migration: Shown,
): { readonly headline: string; readonly reasons: string; readonly next: string } | undefined {
  const failures = listFailures(migration);
  if (failures.length === 0) return undefined;
  const { from } = recorded(io, cluster, migration);
  return {
    headline: failureHeadline(failures),
    reasons: describeFailures(failures),
    next: helpWithFailures(failures, isMigrationActive(migration), failureCommands(actor, cluster, from)),
  };
}

/** What this machine has recorded of the migration, as words for a shell. */
function recorded({ host }: Pick<CommandIo, 'host'>, cluster: string, { id }: Pick<Migration, 'id'>) {
  const latest = listStarted(host.folders.state).find(({ started }) => started.cluster === cluster);
  // What is recorded of another migration says nothing about this one.
  const record = latest?.started.id === id ? latest : undefined;
  const from = (record?.sourceOptions ?? ['--source', 'URL']).map(quoteShellArg);
  return { from, to: targetWords(host.env, record?.target), identity: identityLines(latest, record) };
}

/** How the slots of the migration were identified on this machine; that another migration is recorded, if so. */
function identityLines(latest: StartedRecord | undefined, record: StartedRecord | undefined): readonly string[] {
  if (latest !== undefined && record === undefined && latest.started.id !== '')
    return [
      `This machine has recorded migration ${sanitizeLine(latest.started.id, 80)} into the cluster, not the one that the service shows.`,
    ];
  const identified = (record?.slots ?? []).flatMap(({ name, database, grade, by }) => {
    if (grade === undefined || by === undefined) return [];
    return [{ name, database, text: formatIdentity({ grade, by: sanitizeLine(by, 200) }) }];
  });
  return [...new Set(identified.map(({ text }) => text))].map((text) => {
    const all = identified.filter((one) => one.text === text);
    const [first] = all;
    const place = first === undefined || first.database === '' ? '' : `${sanitizeLine(first.database, 80)}: `;
    if (all.length === 1) return `  ${place}${sanitizeLine(first?.name ?? '', 80)}, ${text}`;
    return `  the slots of ${countOf(all.length, 'database')}, ${text}`;
  });
}

/** Determines and prints the result of a request to migrate into this cluster whose run was interrupted. Throws a CliError. */
export async function settleInterrupted(
  { host, output }: CommandIo,
  actor: Actor,
  cluster: string,
): Promise<RequestOutcome | undefined> {
  const identity = await actor.storedIdentity();
  const resolved = await resolveRequest(
    { api: await actor.api(), stateFolder: host.folders.state, now: host.clock.now(), identity },
    cluster,
  );
  if (resolved !== undefined) await output.note(resolved.note);
  return resolved;
}

/**
 * The same for the requests that named a source. If the service cannot be reached, the watch continues, because it needs only
 * the source.
 */
export async function settleInterruptedOf(io: CommandIo, actor: Actor, source: DbSource): Promise<void> {
  for (const { cluster, baseOrigin, at } of findRequests(io.host.folders.state, sourceAddress(source))) {
    try {
      if (actor.baseOrigin() !== baseOrigin)
        throw new CliError('usage', `the profile belongs to another service than ${baseOrigin}`);
      await settleInterrupted(io, actor, cluster);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      await io.output.note(
        `A run that was interrupted after ${new Date(at).toISOString()} may have started a migration of this source; the status of the migration could not be read: ${error.message}. Next: ${actor.command('db status', cluster)}`,
      );
    }
  }
}

/**
 * Reads the recorded migration from the service. Rejects when the profile belongs to another service or account than the
 * record, because the same UUID would identify another cluster there.
 */
export function statusReader(actor: Actor): NonNullable<WatchOptions['fetchStatus']> {
  return async ({ cluster, identity }, until) => {
    if (compareIdentities(identity, await actor.storedIdentity()) === 'different')
      throw new CliError('usage', 'the profile is not the one that started the migration');
    return fetchMigration(await actor.api(), cluster, { until });
  };
}
