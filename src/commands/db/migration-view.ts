import { migrationPath } from '../../api/online-migration.ts';
import type { Cell, ListView } from '../../cli/columns.ts';
import { CliError } from '../../errors.ts';
import { isExactNumber } from '../../exact.ts';
import { isRecord, type JsonRecord, numberField, stringField } from '../../json.ts';

/** Columns of a migration; a cell is empty when the service does not send the value. */
export const migrationView: ListView<JsonRecord> = {
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
    detail: `GET ${migrationPath(cluster)}: not found; the cluster does not exist, belongs to another account, or had no migration yet`,
    hint: 'list the clusters with `cloudctl db list`; start a migration with `cloudctl db migrate`',
  });
}

/** Formats the status of a migration as one line, followed by one line for each database. */
export function migrationLines(raw: JsonRecord): readonly string[] {
  const reason = stringField(raw, 'reason');
  const status = stringField(raw, 'status') ?? 'unknown';
  return [`Status ${status}${reason === undefined ? '' : `: ${reason}`}`, ...databaseLines(raw)];
}

/** Formats one line for each database, with the values that the service sends. */
export function databaseLines(raw: JsonRecord): readonly string[] {
  const databases = Array.isArray(raw.databases) ? raw.databases : [];
  return databases.filter(isRecord).map((database) => {
    const [ready, total] = [numberField(database, 'tables_ready'), numberField(database, 'tables_total')];
    const [lag, error] = [numberField(database, 'lag_bytes'), stringField(database, 'error')];
    const parts = [
      stringField(database, 'phase') ?? 'unknown',
      ...(ready === undefined || total === undefined ? [] : [`${ready} of ${total} tables copied`]),
      ...(lag === undefined ? [] : [`${lag} bytes behind`]),
      ...(error === undefined ? [] : [error]),
    ];
    return `  ${stringField(database, 'name') ?? 'a database'}: ${parts.join(', ')}`;
  });
}

function cellOf(value: unknown): Cell {
  return typeof value === 'string' || typeof value === 'number' || isExactNumber(value) ? value : undefined;
}
