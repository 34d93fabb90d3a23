import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { type CheckOutcome, info, pass, unknown, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { findDatabase } from '../find-database.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { collationsQuery } from '../queries/collations.ts';
import { databasesQuery } from '../queries/databases.ts';
import { type RestrictedFunction, restrictedFunctionsQuery } from '../queries/restricted-functions.ts';
import { countText } from '../units.ts';

export const collationCheck = databaseCheck({
  id: 'collation',
  title: 'source and target sort text in the same way',
  headline: 'Collations can differ on the target',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { databases: databasesQuery, collations: collationsQuery, markedFunctions: restrictedFunctionsQuery },
  evaluate({ databases, collations, markedFunctions }, database) {
    const found = findDatabase(databases, database);
    if (found === undefined) return info('not told');
    const locale = found.locale ?? found.collate;
    const observed =
      found.provider === 'c'
        ? [...new Set([found.collate, found.ctype])].join(' and ')
        : `${locale} (${providers[found.provider] ?? found.provider})`;
    const stale = isStale(found.collationVersion, found.libraryVersion);
    const staleOwn = collations.filter(({ version, libraryVersion }) => isStale(version, libraryVersion));
    const strange = found.provider === 'c' ? [found.collate, found.ctype].filter((name) => !usual.test(name)) : [];
    const libc = collations.filter(({ provider }) => provider === 'c').map(({ name }) => name);
    if (stale || staleOwn.length > 0) {
      return warn(observed, {
        required: 'the version the database was made with',
        detail: `The library sorts by another version (${found.libraryVersion ?? 'unknown'}) than the one the indexes were made with (${found.collationVersion ?? 'unknown'}): order and uniqueness may differ here already, and the target shows it.`,
        objects: staleOwn.map(({ name }) => name),
        fix: {
          sql: [
            ...(stale ? [`ALTER DATABASE ${quoteIdentifier(database)} REFRESH COLLATION VERSION`] : []),
            ...staleOwn.map(({ name }) => `ALTER COLLATION ${name} REFRESH VERSION`),
          ],
          database,
          by: 'the owner of the database, or a superuser',
          text: 'Rebuild the indexes that sort texts (REINDEX DATABASE), then note the new version.',
        },
      });
    }
    const local = markedFunctions.filter(({ locales }) => locales.some((one) => !everywhere.test(one)));
    if (local.length > 0) return localized(local);
    if (strange.length > 0 || libc.length > 0) {
      return warn(observed, {
        required: 'C, ICU or a usual locale with UTF-8',
        detail: `The target may not have ${[...new Set([...strange, ...libc])].join(', ')}: "invalid locale name". Where it has, another version of the library may sort otherwise.`,
        objects: libc,
        fix: { text: 'Ask the service which locales it has; C, ICU and built-in ones are everywhere.' },
      });
    }
    return pass(observed);
  },
});

/** Settings whose values every server takes. */
const everywhere = /=(|C|POSIX|C\.UTF-?8|en_US\.UTF-?8|Default|Australia|India)$/i;

function localized(found: readonly RestrictedFunction[]): CheckOutcome {
  const [setting = ''] = found.flatMap(({ locales }) => locales).filter((one) => !everywhere.test(one));
  const [name, value] = setting.split('=');
  return {
    ...unknown(
      `${countText(found.length, 'function')} with a locale of their own, and nobody knows whether the target has it`,
    ),
    required: 'locales that the target has',
    detail: `A function brings its settings, which are tried when it is made: "invalid value for parameter "${name}": "${value}"". Where the target lacks one, the schema cannot be made.${unlistedNote(found)}`,
    objects: firstObjects(found).map(({ name, locales }) => `${name} (${locales.join(', ')})`),
    fix: {
      by: 'the owner of the functions, or a superuser',
      text: 'Ask the service which locales it has, or take the setting away before the migration: ALTER FUNCTION … RESET ….',
    },
  };
}

/** Names that servers on Linux usually have. */
const usual = /^(C|POSIX|C\.UTF-?8|[a-z]{2,3}_[A-Z]{2}(\.UTF-?8)?)$/i;

const providers: Readonly<Record<string, string>> = { i: 'ICU', b: 'built in' };

function isStale(version: string | undefined, library: string | undefined): boolean {
  return version !== undefined && library !== undefined && version !== library;
}
