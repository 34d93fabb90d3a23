import { countOf } from '../../../../base/text.ts';
import { doStatement, quoteLiteral, requoteName } from '../../../../postgresql/quote.ts';
import {
  type CheckOutcome,
  type FindingFix,
  type FixEffect,
  failOutcome,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { bodyStatementsQuery, statementsByTable } from '../queries/body-statements.ts';
import { type InstanceIdentity, laterInstanceQuery } from '../queries/cluster.ts';
import { featureCondition } from '../queries/database-overview.ts';
import {
  describeMissed,
  type IncomparableColumn,
  incomparableColumnsQuery,
  missedColumnsQuery,
  type PossibleWrite,
  type UnsafeIdentity,
  unsafeIdentitiesQuery,
} from '../queries/replica-identities.ts';
import { column, columns, rowQuery, type ValueOf } from '../query.ts';
import { sourceVersionNumber } from '../source-facts.ts';

/** The time at which the counters of inserted, updated and deleted rows began. */
export type CountersStart = ValueOf<typeof countersStartQuery>;

/**
 * The counters of written rows begin anew with pg_stat_reset(), after a crash or an immediate shutdown, with pg_upgrade
 * or a restored backup, and on a promoted standby, which has counted no writes. A crash also resets the shared
 * counters, whose reset time shows the crash. One shared counter may have been reset alone, so the older reset time of
 * two counters is used. The file PG_VERSION of a database is written when the database is created. Before PostgreSQL 15
 * the counters of a database began with its first session.
 */
export const countersStartQuery = rowQuery({
  id: 'write-counters',
  scope: 'database',
  when: featureCondition('relations', 'columns'),
  sql: (version, { superuser }) => {
    // Roles other than superusers may not execute pg_ls_waldir and pg_stat_file, and the query would fail.
    const promoted =
      version < 100_000 || !superuser
        ? 'NULL'
        : `
          CASE
            WHEN (SELECT timeline_id FROM pg_control_checkpoint()) > 1
              THEN (SELECT max(w.modification) FROM pg_ls_waldir() w WHERE right(w.name, 8) = '.history')
          END
        `;
    const created = superuser
      ? `
        (
          SELECT extract(epoch FROM f.modification)::bigint
          FROM pg_database d
          CROSS JOIN LATERAL pg_stat_file('base/' || d.oid || '/PG_VERSION', true) f
          WHERE d.datname = current_database()
        )
      `
      : 'NULL::bigint';
    return `
      SELECT
        extract(epoch FROM now() - w.since) AS seconds,
        w.since::timestamp(0)::text AS since,
        extract(epoch FROM w.since) AS start,
        extract(epoch FROM w.since) <= ${created} + 60 AS since_creation
      FROM (
        SELECT greatest(
          (SELECT d.stats_reset FROM pg_stat_database d WHERE d.datname = current_database()),
          least((SELECT b.stats_reset FROM pg_stat_bgwriter b), (SELECT a.stats_reset FROM pg_stat_archiver a)),
          ${promoted}
        ) AS since
      ) w
    `;
  },
  row: columns({
    /** Seconds since the counters of written rows began; undefined if not known. */
    seconds: column.optionalNumber('seconds'),
    /** The time at which the counters of written rows began, as the server formats it. */
    since: column.text('since'),
    /** The time at which the counters of written rows began, in seconds since 1970. */
    start: column.optionalNumber('start'),
    /**
     * Whether the counters began when the database was created, so that no earlier write was possible. Only for a
     * superuser the query can determine when the database was created.
     */
    sinceCreation: column.boolean('since_creation'),
  }),
});

export const replicaIdentityCheck = declareDatabaseCheck({
  id: 'replica-identity',
  title: 'every table has a usable replica identity',
  headline: 'UPDATE fails without a replica identity',
  severity: { continuous: 'blocker' },
  queries: {
    identities: unsafeIdentitiesQuery,
    unequalColumns: incomparableColumnsQuery,
    missedColumns: missedColumnsQuery,
    counters: countersStartQuery,
    bodies: bodyStatementsQuery,
    server: laterInstanceQuery,
  },
  evaluate({ identities, unequalColumns, missedColumns, counters, bodies, server }, database, facts, options) {
    const version = sourceVersionNumber(facts);
    const changing = statementsByTable(bodies.filter(({ verb }) => verb !== 'truncate'));
    const lacking = identities
      .filter((table) => !table.unlogged && identityProblem(table, version) !== undefined)
      .map((table): UnsafeIdentity => {
        return changing(table.name).length === 0 ? table : { ...table, perhaps: [...table.perhaps, 'body'] };
      });
    if (lacking.length === 0) return passOutcome('all tables');
    // Without statistics, or with statistics of only a few hours, the check assumes that the table is written to.
    const written = lacking.filter(
      (table) => table.writes !== 0 || table.parent !== undefined || isTooYoung(counters, server, table),
    );
    // With a generated column in the key, the source reports no error, but the whole replication stops. For such tables
    // past statistics do not reduce the severity.
    const silent = lacking.filter(({ generatedKey }) => generatedKey && version < generatedIdentitySince);
    const open = lacking.filter(({ perhaps }) => perhaps.length > 0);
    const rank = (table: UnsafeIdentity) => (written.includes(table) ? 2 : Number(open.includes(table)));
    const ordered = lacking.toSorted((a, b) => rank(b) - rank(a));
    const unsure = written.some(({ writes, parent }) => writes === 0 && parent === undefined)
      ? ' or of unknown state'
      : '';
    const observed = `${countOf(lacking.length, 'table')} without${written.length === 0 ? '' : `, ${written.length} with writes${unsure}`}`;
    const more = {
      required: 'in every table a primary key that is not deferrable, or REPLICA IDENTITY USING INDEX or FULL',
      detail: `${impactOf(lacking, version)} ${writesOf(written, lacking.length, counters)}${unlistedNote(lacking)}`,
      objects: limitObjects(ordered).map((table) => `${table.name} (${identityProblem(table, version)})`),
      fix: identityFix(
        ordered,
        groupIncomparable([...unequalColumns, ...describeMissed(missedColumns, options)]),
        database,
        version,
      ),
    };
    if (written.length + silent.length > 0) return failOutcome(['continuous'], observed, more);
    if (open.length > 0)
      return openOutcome(
        open,
        open.flatMap(({ name }) => changing(name).map(({ by }) => by)),
        more,
      );
    // Short, because a terminal has one row for it; databases with other tables share the headline.
    const named = lacking.length === 1 ? '' : `${countOf(lacking.length, 'table')} such as `;
    return warnOutcome(`${named}${ordered[0]?.name}`, { ...more, headline: 'UPDATE fails on the source' });
  },
});

/** How the rows of a table may be changed without a count in its statistics, and why. */
const means: Readonly<Record<PossibleWrite, readonly [how: string, why: string]>> = {
  upsert: [
    'by ON CONFLICT DO UPDATE or MERGE',
    'INSERT … ON CONFLICT DO UPDATE and MERGE fail in the same way, also without a conflict; the statistics then count only an INSERT.',
  ],
  key: [
    'through a foreign key with ON UPDATE',
    'An UPDATE of a key that a foreign key with ON UPDATE CASCADE or SET follows fails in the same way, also if no row refers to the key.',
  ],
  chain: [
    'through a chain of foreign keys',
    'Rows were deleted from a table that it follows through another one with ON DELETE CASCADE: such a DELETE fails in the same way as soon as it deletes a row in between.',
  ],
  kin: [
    'through a parent or partitioned table',
    'Rows of a table with the same parent were changed: UPDATE and DELETE of the parent fail in the same way, also if no row of the table without a replica identity is changed.',
  ],
  rule: ['by a rule', 'A rule with UPDATE or DELETE fails in the same way, also if it finds no row.'],
  body: ['by a function', 'UPDATE, DELETE or MERGE in a function fails in the same way, also if it finds no row.'],
};

/** The counters of a table do not show a statement that the server refuses although it would change no row. */
function openOutcome(
  open: readonly UnsafeIdentity[],
  functions: readonly string[],
  more: Omit<CheckOutcome, 'status' | 'blocks' | 'observed'>,
) {
  const found = Object.entries(means).filter(([write]) =>
    open.some(({ perhaps }) => perhaps.some((one) => one === write)),
  );
  const named = functions.length === 0 ? [] : [`Functions: ${limitObjects([...new Set(functions)]).join(', ')}.`];
  return {
    ...unknownOutcome(`${countOf(open.length, 'table')} without, possibly with writes`),
    ...more,
    headline: 'UPDATE may fail without a replica identity',
    premise: `no statement updates or deletes rows of tables without a replica identity, also not ${found.map(([, [how]]) => how).join(' or ')}`,
    settledBy: 'REPLICA IDENTITY on the source',
    detail: [more.detail, ...found.map(([, [, why]]) => why), ...named].join(' '),
  };
}

/** The error messages of the server, one for each kind of unusable replica identity. */
function impactOf(lacking: readonly UnsafeIdentity[], version: number): string {
  const isGenerated = (table: UnsafeIdentity) => identityProblem(table, version)?.includes('generated') === true;
  const plain = lacking.find((table) => !isGenerated(table));
  const sentences: string[] = [];
  if (plain !== undefined) {
    sentences.push(
      `As soon as the publication exists, UPDATE and DELETE fail on the source: "cannot update table ${lastPart(plain.name)} because it does not have a replica identity and publishes updates".`,
    );
  }
  if (lacking.some(isGenerated)) {
    sentences.push(
      version >= generatedIdentitySince
        ? 'As soon as the publication exists, UPDATE and DELETE fail on the source: "Replica identity must not contain unpublished generated columns."'
        : 'Generated columns are not replicated, so the first UPDATE or DELETE stops the replication: "publisher did not send replica identity column expected by the logical replication target relation".',
    );
  }
  return sentences.join(' ');
}

/** Statistics of one day include jobs that run every night; the user must know about weekly jobs. */
const trustedSeconds = 86_400;

/**
 * Whether a count of zero writes proves nothing, because the statistics are younger than a day and younger than the
 * rows of the table.
 */
function isTooYoung(
  { seconds, start, sinceCreation }: CountersStart,
  server: InstanceIdentity | undefined,
  { olderThanCounters }: UnsafeIdentity,
): boolean {
  const isComplete = sinceCreation || (start !== undefined && server !== undefined && start <= initdbTime(server) + 60);
  return seconds !== undefined && seconds < trustedSeconds && (!isComplete || olderThanCounters);
}

/** The upper 32 bits of the system identifier are the time of initdb, in seconds since 1970. */
function initdbTime({ systemIdentifier }: InstanceIdentity): number {
  return Math.floor(Number(systemIdentifier) / 2 ** 32);
}

function writesOf(written: readonly UnsafeIdentity[], all: number, { since }: CountersStart): string {
  if (written.some(({ writes }) => writes === undefined)) {
    return 'It is not known whether these tables are written to: track_counts is off.';
  }
  const start = since === '' ? '' : ` (${since})`;
  if (written.length === 0)
    return `None of these tables had an UPDATE or DELETE since the statistics were reset${start}.`;
  if (written.every(({ writes, parent }) => writes === 0 && parent === undefined)) {
    return `It is not known whether these tables are written to: the statistics were reset less than a day ago${start}, by pg_stat_reset(), a crash, an upgrade or a failover, or the database is new. Run the preflight again a day later, or accept the finding if you know that no application changes the rows of these tables.`;
  }
  const busiest = written
    .filter(({ writes }) => writes !== 0)
    .toSorted((a, b) => (b.writes ?? 0) - (a.writes ?? 0))
    .slice(0, 3);
  const counts = busiest.map(({ name, writes }) => `${name} ${writes}`).join(', ');
  const [most] = written
    .flatMap(({ name, parent }) => (parent === undefined ? [] : [{ child: name, ...parent }]))
    .toSorted((a, b) => b.deletes - a.deletes);
  const quiet = all - written.length;
  return [
    ...(busiest.length === 0 ? [] : [`UPDATE and DELETE since the statistics were reset${start}: ${counts}.`]),
    ...(most === undefined
      ? []
      : [
          `DELETE on ${most.name} fails too, because a foreign key of ${most.child} has ON DELETE CASCADE or SET, even if no row refers to the deleted one: ${countOf(most.deletes, 'deleted row')} since the statistics were reset${start}.`,
        ]),
    ...(quiet === 0 ? [] : [`The other ${countOf(quiet, 'table')} had none.`]),
  ].join(' ');
}

/** The table name as in error messages of the server: in double quotes, without the schema. */
function lastPart(name: string): string {
  const part = /^(?:"(?:[^"]|"")*"|[^".]+)\.(.*)$/s.exec(name)?.[1] ?? name;
  return part.startsWith('"') ? part : `"${part}"`;
}

/** Columns whose type has no equality operator, by table. */
export type IncomparableColumns = ReadonlyMap<string, readonly string[]>;

/**
 * Since PostgreSQL 18 an UPDATE of a published table fails on the source if its replica identity contains a generated
 * column. Before PostgreSQL 18 the UPDATE succeeds, and replication stops on the target if the generated column is in
 * the key.
 */
export const generatedIdentitySince = 180_000;

export function groupIncomparable(columns: readonly IncomparableColumn[]): IncomparableColumns {
  const byTable = new Map<string, string[]>();
  for (const { table, column } of columns) {
    const known = byTable.get(table);
    if (known === undefined) byTable.set(table, [column]);
    else known.push(column);
  }
  return byTable;
}

/** Why the replica identity of a table is not usable; undefined if it is usable. */
export function identityProblem(
  { identity, keyed, generated, generatedKey }: UnsafeIdentity,
  version: number,
): string | undefined {
  if (identity === 'n') return 'REPLICA IDENTITY NOTHING';
  if (identity === 'f' && version >= generatedIdentitySince && generated) return 'FULL with a generated column';
  if (generatedKey) return 'a generated column in the key';
  if (identity === 'f' || keyed) return undefined;
  return identity === 'i' ? 'REPLICA IDENTITY USING INDEX without that index' : 'no usable primary key';
}

/**
 * A replica identity that is usable for a table; undefined if the table needs a change of its columns or keys first.
 */
export function chooseIdentity(
  table: UnsafeIdentity,
  unequal: IncomparableColumns,
  version: number,
): string | undefined {
  if (table.primaryUsable && table.identity !== 'd') return 'DEFAULT';
  if (table.usableIndex !== undefined) return `USING INDEX ${requoteName(table.usableIndex)}`;
  const isSent = !(table.generatedKey || (version >= generatedIdentitySince && table.generated));
  return isSent && table.identity !== 'f' && !unequal.has(table.name) ? 'FULL' : undefined;
}

/** Statements for the tables that can have a usable replica identity; the text of the fix names the other tables. */
export function identityFix(
  tables: readonly UnsafeIdentity[],
  unequal: IncomparableColumns,
  database: string,
  version: number,
): FindingFix {
  // Only the SQL statements are stored, not an object for each table, because a database can have a hundred thousand
  // tables.
  const sql: string[] = [];
  const undo: string[] = [];
  const effects: FixEffect[] = [];
  const left: string[] = [];
  let full = 0;
  for (const table of tables) {
    const replacement = chooseIdentity(table, unequal, version);
    if (replacement === undefined) left.push(table.name);
    else {
      sql.push(identityStatement(table, replacement));
      effects.push(identityEffect(table, replacement));
      undo.push(identityStatement(table, identityClause(table)));
      if (replacement === 'FULL') full += 1;
    }
  }
  const sentences = [
    'A primary key is the best replica identity.',
    ...(sql.length === 0 ? [] : ['Each statement takes a short ACCESS EXCLUSIVE lock and does not rewrite the table.']),
    ...(full === 0 ? [] : [costOfFull(full)]),
    ...(left.length === 0 ? [] : [manualRemedy(left, version)]),
  ];
  return {
    sql,
    undo,
    effects,
    database,
    by: 'the owner of the tables, or a superuser',
    text: sentences.join(' '),
  };
}

export function identityStatement({ name }: UnsafeIdentity, identity: string): string {
  const statement = `ALTER TABLE ${requoteName(name)} REPLICA IDENTITY ${identity}`;
  const [, index] = /^USING INDEX "(.*)"$/s.exec(identity) ?? [];
  return index === undefined ? statement : withUnchangedIndex(name, index.replaceAll('""', '"'), statement);
}

/**
 * ALTER TABLE … REPLICA IDENTITY USING INDEX evaluates constant parts of the expressions of the index as the role that runs
 * it, and until then the owner of the table, its schema or its database can give the name of the index to another one.
 * Therefore a superuser first locks the rows of the index and of the schema in the catalogs, so that nobody can rename, move
 * or drop them. Every role requires an index without expressions; for one that is no superuser a moment is left in which the
 * owner can rename an index. PostgreSQL refuses an index of another table before it evaluates anything.
 */
function withUnchangedIndex(name: string, index: string, statement: string): string {
  const table = `pg_catalog.to_regclass(${quoteLiteral(requoteName(name))})`;
  const named = 'FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid';
  const isNamed = `i.indrelid = ${table} AND c.relname = ${quoteLiteral(index)}`;
  const isPlain = `SELECT ${named} WHERE i.indexrelid = found AND ${isNamed} AND i.indexprs IS NULL AND i.indpred IS NULL`;
  const message = quoteLiteral(`the index ${index} of ${name} has changed since the preflight`);
  const body = [
    `found := (SELECT i.indexrelid ${named} WHERE ${isNamed})`,
    "IF pg_catalog.current_setting('is_superuser') = 'on' THEN PERFORM FROM pg_catalog.pg_class WHERE oid = found FOR UPDATE",
    'PERFORM FROM pg_catalog.pg_namespace WHERE oid = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = found) FOR UPDATE',
    'END IF',
    `IF NOT EXISTS (${isPlain}) THEN RAISE EXCEPTION USING MESSAGE = ${message}`,
    'END IF',
    statement,
  ];
  return doStatement(body.join('; '), 'DECLARE found pg_catalog.oid; ');
}

export function identityEffect({ name }: UnsafeIdentity, identity: string): FixEffect {
  return { kind: 'replica-identity', table: name, identity };
}

/**
 * The undo cannot set a dropped or unusable index again as the replica identity; a table without that index has the
 * identity NOTHING.
 */
export function identityClause({ identity, index }: UnsafeIdentity): string {
  if (identity === 'd') return 'DEFAULT';
  if (identity === 'f') return 'FULL';
  return identity === 'i' && index !== undefined ? `USING INDEX ${requoteName(index)}` : 'NOTHING';
}

function costOfFull(tables: number): string {
  return `${countOf(tables, 'table gets', 'tables get')} REPLICA IDENTITY FULL, for lack of a unique index over NOT NULL columns: every UPDATE and DELETE then writes the whole old row to the WAL, and the target searches for it row by row. A column added later whose type has no equality operator, such as json, stops the replication.`;
}

function manualRemedy(names: readonly string[], version: number): string {
  const listed = names.slice(0, 5).join(', ');
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  const generated = version >= generatedIdentitySince ? ', of columns that are not generated' : '';
  return `${listed}${more} need a primary key${generated} (or jsonb instead of json); otherwise exclude the database with --ignore-dbs.`;
}
