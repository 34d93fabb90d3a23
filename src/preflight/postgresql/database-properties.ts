import { quoteIdentifier } from '../../postgresql/quote.ts';
import { type CheckOutcome, fail, info, pass, unknown, warn } from '../finding.ts';
import { databaseCheck } from './check.ts';
import { firstObjects, unlistedNote } from './object-list.ts';
import { collationsQuery } from './queries/collations.ts';
import { databaseOverviewQuery } from './queries/database-overview.ts';
import { databasesQuery, type PostgresqlDatabase } from './queries/databases.ts';
import { invalidUtf8TextsQuery } from './queries/invalid-utf8-texts.ts';
import { type RestrictedFunction, restrictedFunctionsQuery } from './queries/restricted-functions.ts';
import { countText } from './units.ts';

/** Databases that a managed target has from the beginning, in UTF8. */
const alreadyThere = ['defaultdb', 'postgres'];

export const encodingCheck = databaseCheck({
  id: 'encoding',
  title: 'the encoding is one the target takes',
  queries: { databases: databasesQuery, overview: databaseOverviewQuery, rawTexts: invalidUtf8TextsQuery },
  evaluate({ databases, overview, rawTexts }, database) {
    const observed = find(databases, database)?.encoding ?? '';
    if (observed !== 'SQL_ASCII') return pass(observed);
    const fix = {
      by: 'who owns the data',
      text: `Find and mend the texts that are not UTF-8, and move them into a database made with ENCODING 'UTF8'.`,
    };
    if (rawTexts.length > 0) {
      return fail(
        ['continuous', 'dump'],
        `${observed}; ${countText(rawTexts.length, 'text')} of the schema without UTF-8`,
        {
          required: 'a schema in UTF-8',
          detail: `A schema is read as UTF-8, and the server refuses to write what is none: invalid byte sequence for encoding "UTF8". Nothing is copied then.${unlistedNote(rawTexts)}`,
          objects: firstObjects(rawTexts).map(({ kind, shown }) => `${kind}: ${shown.slice(0, 60)}`),
          fix: {
            by: 'the owner of the schema',
            text: 'Give names and labels in UTF-8 (ALTER … RENAME, ALTER TYPE … RENAME VALUE), and write comments, defaults, constraints and functions anew. Rows may keep their bytes, where the target database is made anew.',
          },
        },
      );
    }
    if (alreadyThere.includes(database) && overview.tables > 0) {
      return fail(['continuous', 'dump'], observed, {
        required: 'UTF8',
        detail: `The target has a database "${database}" already, in UTF8. Bytes that are not UTF-8 stop the copy: invalid byte sequence for encoding "UTF8": 0xff.`,
        fix,
      });
    }
    return warn(observed, {
      required: 'UTF8',
      detail:
        'SQL_ASCII takes any bytes. A database made anew on the target is SQL_ASCII too; in one that is there already, in UTF8, the copy stops: invalid byte sequence for encoding "UTF8": 0xff.',
      fix,
    });
  },
});

export const collationCheck = databaseCheck({
  id: 'collation',
  title: 'the collations are the same everywhere',
  queries: { databases: databasesQuery, collations: collationsQuery, markedFunctions: restrictedFunctionsQuery },
  evaluate({ databases, collations, markedFunctions }, database) {
    const found = find(databases, database);
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

export const dbNamesCheck = databaseCheck({
  id: 'db-names',
  title: 'the name of the database needs no quotes',
  queries: { databases: databasesQuery },
  evaluate({ databases }, database) {
    const found = find(databases, database);
    const odd = found?.plain === false;
    const long = (found?.length ?? 0) > longestName;
    if (!odd && !long) return pass(database);
    const why = [
      ...(odd
        ? [
            'Slots take lower-case letters, digits and underscores only: "replication slot name … contains invalid character". The service has to find another name for it.',
          ]
        : []),
      ...(long ? [`With ${found?.length} bytes a slot named after it is longer than 63 and is cut off.`] : []),
    ];
    return warn(database, {
      required: `lower-case letters, digits and underscores, at most ${longestName} bytes`,
      detail: why.join(' '),
      fix: {
        by: 'the owner of the database',
        text: `Rename it while nobody is connected (ALTER DATABASE ${quoteIdentifier(database)} RENAME TO …), or leave it out with ignore_dbs.`,
      },
    });
  },
});

/** 63 bytes of a slot, less what an engine puts around the name. */
const longestName = 41;

/** Names that servers on Linux usually have. */
const usual = /^(C|POSIX|C\.UTF-?8|[a-z]{2,3}_[A-Z]{2}(\.UTF-?8)?)$/i;

const providers: Readonly<Record<string, string>> = { i: 'ICU', b: 'built in' };

function find(databases: readonly PostgresqlDatabase[], name: string): PostgresqlDatabase | undefined {
  return databases.find((database) => database.name === name);
}

function isStale(version: string | undefined, library: string | undefined): boolean {
  return version !== undefined && library !== undefined && version !== library;
}
