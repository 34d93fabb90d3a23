import { usageError } from '../../errors.ts';
import { type FindNearest, inDoubleQuotes, suggestionHint } from '../unknown-check-ids.ts';
import type { PostgresqlDatabase } from './queries/databases.ts';

/**
 * The databases to migrate. Throws a CliError (usage) for a name in `ignore_dbs` that no database has: with a slip in it the
 * wrong database would be migrated.
 */
export function selectDatabases(
  databases: readonly PostgresqlDatabase[],
  ignored: readonly string[],
  nearest: FindNearest,
): readonly string[] {
  const names = databases.map(({ name }) => name);
  const strange = ignored.filter((name) => !names.includes(name) && !alwaysIgnored.has(name));
  if (strange.length > 0) throw unknownDatabases(strange, names, nearest);
  const left = names.filter((name) => !ignored.includes(name));
  if (left.length === 0) throw usageError('every database of the source is ignored: nothing is left to migrate');
  return left;
}

/** Never migrated, so naming them does no harm. */
const alwaysIgnored = new Set(['template0', 'template1']);

function unknownDatabases(strange: readonly string[], names: readonly string[], nearest: FindNearest): Error {
  const what = strange.map(inDoubleQuotes).join(', ');
  const told = names.slice(0, 20).join(', ') + (names.length > 20 ? ` and ${names.length - 20} more` : '');
  return usageError(
    strange.length === 1
      ? `the source has no database ${what} to ignore`
      : `the source has no databases ${what} to ignore`,
    suggestionHint(strange, names, nearest) ??
      'name databases exactly as the server does, upper and lower case included',
    `databases of the source: ${told}`,
  );
}
