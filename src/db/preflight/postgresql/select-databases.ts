import { usageError } from '../../../base/errors.ts';
import { buildNearestWordHint, type NearestWordFinder, wrapInDoubleQuotes } from '../unknown-check-ids.ts';
import type { PostgresqlDatabase } from './queries/databases.ts';

/**
 * The databases to migrate: all except those in `--ignore-dbs`.
 * @throws CliError `usage` when an ignored name does not exist, since a typing error would migrate the wrong database,
 * or when no database is left
 */
export function selectDatabasesToMigrate(
  databases: readonly PostgresqlDatabase[],
  ignored: readonly string[],
  nearest: NearestWordFinder,
): readonly string[] {
  const names = databases.map(({ name }) => name);
  const unknown = ignored.filter((name) => !names.includes(name) && !alwaysIgnored.has(name));
  if (unknown.length > 0) throw unknownDatabases(unknown, names, nearest);
  const left = names.filter((name) => !ignored.includes(name));
  if (left.length === 0)
    throw usageError(
      '--ignore-dbs names every database of the source',
      'leave at least one database out of `--ignore-dbs`',
    );
  return left;
}

/** Databases that are never migrated; naming them in `--ignore-dbs` is no error. */
const alwaysIgnored = new Set(['template0', 'template1']);

function unknownDatabases(unknown: readonly string[], names: readonly string[], nearest: NearestWordFinder): Error {
  const listed = names.slice(0, 20).join(', ') + (names.length > 20 ? ` and ${names.length - 20} more` : '');
  return usageError(
    `unknown ${unknown.length === 1 ? 'database' : 'databases'} in --ignore-dbs: ${unknown.map(wrapInDoubleQuotes).join(', ')}`,
    buildNearestWordHint(unknown, names, nearest) ??
      'give the names exactly as the server has them, including upper and lower case',
    `databases of the source: ${listed}`,
  );
}

/**
 * The databases that a comparison reads: the databases to migrate, without templates. `ignored` may contain names of
 * templates too.
 */
export function selectDatabasesToCompare(
  databases: readonly PostgresqlDatabase[],
  ignored: readonly string[],
  nearest: NearestWordFinder,
): readonly string[] {
  return selectDatabasesToMigrate(
    databases.filter(({ template }) => !template),
    ignored.filter((name) => !databases.some((one) => one.name === name && one.template)),
    nearest,
  );
}
