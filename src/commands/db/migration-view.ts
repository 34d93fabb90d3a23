import { buildOnlineMigrationPath } from '../../api/online-migration.ts';
import { CliError } from '../../base/errors.ts';
import { isLosslessNumberObject } from '../../base/exact.ts';
import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../base/json.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { formatBytes } from '../../base/text.ts';
import type { ListView, OutputCellValue } from '../../cli/columns.ts';

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
    { name: 'Status', value: (row) => cellOf(row.status) },
    { name: 'CreatedAt', value: (row) => cellOf(row.created_at) },
    { name: 'Deadline', value: (row) => cellOf(row.deadline) },
    { name: 'StoppedAt', value: (row) => cellOf(row.stopped_at) },
    { name: 'Reason', value: (row) => cellOf(row.reason) },
  ],
};

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
