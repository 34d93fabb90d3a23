import { countOf } from '../../../../base/text.ts';
import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { quoteIdentifier, requoteName } from '../../../../postgresql/quote.ts';
import { decodeOptionalText, decodeText } from '../../../../postgresql/rows.ts';
import {
  type CheckOutcome,
  failOutcome,
  infoOutcome,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { quoteName } from '../owner-queries.ts';
import { databasesQuery, findDatabase } from '../queries/cluster.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { type SuperuserFunction, superuserFunctionsQuery } from '../queries/privileges.ts';
import { rowsQuery } from '../query.ts';

/** A collation that a user created, or that initdb took from the operating system and an object uses. */
interface UserCollation {
  /** Qualified and quoted. */
  readonly name: string;
  /** The name of a collation that initdb took from the operating system. */
  readonly imported?: string | undefined;
  readonly provider: string;
  readonly version: string | undefined;
  readonly libraryVersion: string | undefined;
}

const userCollationsQuery = rowsQuery<UserCollation>({
  id: 'collations',
  scope: 'database',
  when: featureCondition('collations'),
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT
          quote_ident(n.nspname) || '.' || quote_ident(c.collname) AS name,
          CASE WHEN c.oid < ${firstNormalOid} THEN c.collname END AS imported,
          c.collprovider AS provider,
          c.collversion AS version,
          pg_collation_actual_version(c.oid) AS library_version
        FROM pg_collation c
        JOIN pg_namespace n ON n.oid = c.collnamespace
        WHERE c.oid >= ${firstNormalOid}
          OR EXISTS (
            SELECT FROM pg_depend d
            WHERE d.refclassid = '${catalogOids.pg_collation}'
              AND d.refobjid = c.oid
              AND d.deptype <> 'p'
          )
        ORDER BY 1
      `,
  row: (row) => ({
    name: decodeText(row, 'name'),
    imported: decodeOptionalText(row, 'imported'),
    provider: decodeText(row, 'provider'),
    version: decodeOptionalText(row, 'version'),
    libraryVersion: decodeOptionalText(row, 'library_version'),
  }),
});

export const collationCheck = declareDatabaseCheck({
  id: 'collation',
  title: 'source and target sort text in the same way',
  headline: 'Collations can differ on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    databases: databasesQuery,
    collations: userCollationsQuery,
    markedFunctions: superuserFunctionsQuery,
  },
  evaluate({ databases, collations, markedFunctions }, database, _facts, { target }) {
    const found = findDatabase(databases, database);
    if (found === undefined) return infoOutcome('not reported by the server');
    const locale = found.locale ?? found.collate;
    const observed =
      found.provider === 'c'
        ? [...new Set([found.collate, found.ctype])].join(' and ')
        : `${locale} (${providers[found.provider] ?? found.provider})`;
    const stale = isStale(found.collationVersion, found.libraryVersion);
    const staleOwn = collations.filter(({ version, libraryVersion }) => isStale(version, libraryVersion));
    const uncommon =
      found.provider === 'c' ? [found.collate, found.ctype].filter((name) => !commonLocale.test(name)) : [];
    const isRead = target?.postgresql !== undefined;
    const libc = collations
      .filter(({ provider, imported }) => provider === 'c' && (imported === undefined || !isRead))
      .map(({ name }) => name);
    if (stale || staleOwn.length > 0) {
      return warnOutcome(observed, {
        headline: 'A collation version differs from that of the indexes',
        required: 'the collation version with which the database was created',
        detail: `The collation library has version ${found.libraryVersion ?? 'unknown'}, the indexes were built with version ${found.collationVersion ?? 'unknown'}. Sort order and uniqueness may already be wrong on the source; the target can then reject rows as duplicates.`,
        objects: staleOwn.map(({ name }) => name),
        fix: {
          sql: [
            ...(stale ? [`ALTER DATABASE ${quoteIdentifier(database)} REFRESH COLLATION VERSION`] : []),
            ...staleOwn.map(({ name }) => `ALTER COLLATION ${requoteName(name)} REFRESH VERSION`),
          ],
          notSimulated: 'whether the indexes are rebuilt before the new version is recorded is not known',
          database,
          by: 'the owner of the database, or a superuser',
          text: 'Rebuild the indexes on text columns (REINDEX DATABASE), then record the new collation version.',
        },
      });
    }
    const read = target?.postgresql;
    const provided = new Set([...(read?.locales ?? [])].map(normalizeLocale));
    const isProvided = (name: string) => provided.has(normalizeLocale(name));
    const missing = collations.filter(
      ({ imported }) => imported !== undefined && read?.locales.has(imported) === false,
    );
    if (missing.length > 0)
      return lackingCollations(
        missing.map(({ name }) => name),
        observed,
      );
    const lacking = found.provider === 'c' ? [found.collate, found.ctype].filter((name) => !isProvided(name)) : [];
    if (read !== undefined && lacking.length > 0) return lackingLocales([...new Set(lacking)], observed);
    const isOpen = (setting: string) =>
      !portableValue.test(setting) && !isProvided(setting.slice(setting.indexOf('=') + 1));
    const local = markedFunctions.filter(({ locales }) => locales.some(isOpen));
    if (local.length > 0) return localeSettings(local);
    if ((read === undefined && uncommon.length > 0) || libc.length > 0) {
      return warnOutcome(observed, {
        required: 'the locale C, an ICU locale or a common UTF-8 locale',
        detail: `The target may not provide ${[...new Set([...uncommon, ...libc])].join(', ')}: "invalid locale name". If the target provides the locale, another version of its library may sort differently.`,
        objects: libc,
        fix: { text: 'Ask the service which locales it provides; C, ICU and built-in locales are always available.' },
      });
    }
    return passOutcome(observed);
  },
});

/** Servers list the locales of the operating system in this form: en_US.utf8 for en_US.UTF-8. */
function normalizeLocale(name: string): string {
  return name.toLowerCase().replace(/utf-8$/, 'utf8');
}

function lackingCollations(names: readonly string[], observed: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], observed, {
    headline: 'The target lacks a collation that objects use',
    required: 'collations that the target has',
    detail: `Collations in pg_catalog come from the operating system of a server and are in no dump, so the schema cannot be restored: "collation ${quoteName(names[0] ?? '')} for encoding … does not exist".${unlistedNote(names)}`,
    objects: limitObjects(names),
    fix: {
      text: 'Install the locales on the target and run pg_import_system_collations there, or use a collation that it has (ALTER TABLE … ALTER COLUMN … TYPE text COLLATE …).',
    },
  });
}

function lackingLocales(names: readonly string[], observed: string): CheckOutcome {
  return {
    ...unknownOutcome(observed),
    headline: 'The target does not list the locale of the database',
    premise: `the target provides the locale ${names.join(' and ')}`,
    required: 'a locale that the target provides',
    detail:
      'The target lists the locales that its system had when it was set up. Without the locale CREATE DATABASE fails: "invalid locale name".',
    fix: { text: 'Install the locale on the target, or ask the service which locales it provides.' },
  };
}

/** Collations and locales that every server accepts. */
const portableValue = /=(|C|POSIX|C\.UTF-?8|en_US\.UTF-?8|Default|Australia|India)$/i;

function localeSettings(found: readonly SuperuserFunction[]): CheckOutcome {
  const [setting = ''] = found.flatMap(({ locales }) => locales).filter((one) => !portableValue.test(one));
  const [name, value] = setting.split('=');
  return {
    ...unknownOutcome(
      `${countOf(found.length, 'function')} with a locale in SET; it is not known whether the target provides it`,
    ),
    headline: 'A function sets a locale that the target may not provide',
    premise: 'the target provides the locales that functions set',
    settledBy: '--accept collation',
    required: 'only locales that the target provides, in the settings of functions',
    detail: `CREATE FUNCTION validates the settings of the function: "invalid value for parameter "${name}": "${value}"". If the target does not provide the locale, the schema cannot be restored.${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ name, locales }) => `${name} (${locales.join(', ')})`),
    fix: {
      by: 'the owner of the functions, or a superuser',
      text: 'Ask the service which locales it provides, or remove the locale setting of the function before the migration: ALTER FUNCTION … RESET ….',
    },
  };
}

/** Locales that PostgreSQL servers on Linux usually provide. */
const commonLocale = /^(C|POSIX|C\.UTF-?8|[a-z]{2,3}_[A-Z]{2}(\.UTF-?8)?)$/i;

const providers: Readonly<Record<string, string>> = { i: 'ICU', b: 'built in' };

function isStale(version: string | undefined, library: string | undefined): boolean {
  return version !== undefined && library !== undefined && version !== library;
}
