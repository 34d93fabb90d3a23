import { type CliError, usageError } from '../base/errors.ts';
import { isJsonRecord } from '../base/json.ts';
import type { CommandSpec } from './command.ts';
import type { JmespathQuery } from './jmespath-query.ts';
import { nearestWord } from './nearest-word.ts';
import { shortenInputForError } from './shorten-input-for-error.ts';

/**
 * Creates the query of `--json FIELD,…`, which keeps only these members of one object or of each object in a list. Case, `-` and
 * `_` of a field need not be right. If the fields of the command are known, an unknown one is a usage error here, before any
 * request, and a member that an object lacks is null; otherwise a field that no object has is an error of the query.
 * @param before the query of `--query`, which is applied first and decides about the members
 */
export function createOutputFieldSelector(
  typed: readonly string[],
  before: JmespathQuery | undefined,
  { fields, columns = [] }: Pick<CommandSpec<never>, 'fields' | 'columns'> = {},
): JmespathQuery {
  const known = before === undefined ? fields : undefined;
  if (typed.includes('')) throw missingFieldsError(known);
  const names = columns.map(({ name }) => name);
  const wanted = known === undefined ? typed : resolveFields(typed, known, names);
  const pick = (data: unknown): unknown => {
    const rows: readonly unknown[] = Array.isArray(data) ? data : [data];
    const objects = rows.filter(isJsonRecord);
    const members = known ?? [...new Set(objects.flatMap((one) => Object.keys(one)))];
    const picked = objects.length === 0 ? wanted : resolveFields(wanted, members, names);
    const selected = rows.map((row) =>
      isJsonRecord(row)
        ? Object.fromEntries(picked.map((field) => [field, Object.hasOwn(row, field) ? (row[field] ?? null) : null]))
        : row,
    );
    return Array.isArray(data) ? selected : selected[0];
  };
  const run = (data: unknown): unknown => pick(before === undefined ? data : before(data));
  return Object.assign(run, { isItemwise: before?.isItemwise ?? true, emptyColumns: [...new Set(wanted)] });
}

function resolveFields(
  typed: readonly string[],
  known: readonly string[],
  columns: readonly string[],
): readonly string[] {
  return typed.map((field) => {
    const found = findField(field, known);
    if (found === undefined) throw unknownFieldError(field, known, columns);
    return found;
  });
}

/** The known field with this name, else the only one that differs from it in case, `-` and `_` alone. */
function findField(field: string, known: readonly string[]): string | undefined {
  if (known.includes(field)) return field;
  const [found, ...others] = known.filter((name) => plain(name) === plain(field));
  return others.length === 0 ? found : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

function missingFieldsError(known: readonly string[] | undefined): CliError {
  return known === undefined
    ? usageError('--json requires fields', 'see the fields with `-o json`, and type such as `--json id,name`')
    : usageError('--json requires fields', exampleHint(known), knownFields(known));
}

function unknownFieldError(field: string, known: readonly string[], columns: readonly string[]): CliError {
  const column = columns.find((name) => plain(name) === plain(field));
  const meant = nearestWord(field, known);
  const hint =
    column !== undefined
      ? `it is a column: use \`-o json --format ${column}\``
      : meant !== undefined
        ? `did you mean \`--json ${shortenInputForError(meant)}\`?`
        : exampleHint(known);
  return usageError(`unknown field "${shortenInputForError(field)}" for --json`, hint, knownFields(known));
}

function exampleHint(known: readonly string[]): string {
  return `use known fields, such as \`--json ${known
    .slice(0, 2)
    .map((name) => shortenInputForError(name))
    .join(',')}\``;
}

function knownFields(known: readonly string[]): string {
  return `known fields: ${known.map((name) => shortenInputForError(name)).join(', ')}`;
}
