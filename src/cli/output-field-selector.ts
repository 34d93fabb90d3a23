import { usageError } from '../base/errors.ts';
import { isJsonRecord } from '../base/json.ts';
import type { JmespathQuery } from './jmespath-query.ts';
import { shortenInputForError } from './shorten-input-for-error.ts';

/**
 * Creates the query of `--json FIELD,…`, which keeps only these members of one object or of each object in a list. Throws a
 * usage error for a field that no object has. @param before the query of `--query`, which is applied first
 */
export function createOutputFieldSelector(fields: readonly string[], before: JmespathQuery | undefined): JmespathQuery {
  const pick = (data: unknown): unknown => {
    const rows: readonly unknown[] = Array.isArray(data) ? data : [data];
    const objects = rows.filter(isJsonRecord);
    const missing = fields.find((field) => objects.length > 0 && !objects.some((one) => Object.hasOwn(one, field)));
    if (missing !== undefined) throw unknownFieldError(missing, objects);
    const picked = rows.map((row) =>
      isJsonRecord(row) ? Object.fromEntries(fields.map((field) => [field, row[field] ?? null])) : row,
    );
    return Array.isArray(data) ? picked : picked[0];
  };
  const run = (data: unknown): unknown => pick(before === undefined ? data : before(data));
  return Object.assign(run, { isItemwise: before?.isItemwise ?? true, emptyColumns: fields });
}

function unknownFieldError(field: string, objects: readonly Readonly<Record<string, unknown>>[]) {
  const known = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  return usageError(
    `unknown field "${shortenInputForError(field)}" for --json`,
    `use known fields, such as \`--json ${known.slice(0, 2).join(',')}\``,
    `known fields: ${known.map((name) => shortenInputForError(name)).join(', ')}`,
  );
}
