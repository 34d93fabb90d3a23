import { parseMajorVersion } from '../../postgresql/version.ts';
import { type CheckOutcome, fail, pass, warn } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import { databaseCheck } from './check.ts';
import {
  generatedIdentityRejectedSince,
  type IncomparableColumns,
  identityFix,
  identityProblem,
  incomparableColumnsByTable,
} from './identity-fix.ts';
import { firstObjects, unlistedNote } from './object-list.ts';
import { type NullableHashIndexColumn, nullableHashIndexColumnsQuery } from './queries/nullable-hash-index-columns.ts';
import {
  type ColumnWithoutEquality,
  columnsWithoutEqualityQuery,
  replicaIdentitiesQuery,
  type TableReplicaIdentity,
} from './queries/replica-identities.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';
import { countText } from './units.ts';

export const replicaIdentityCheck = databaseCheck({
  id: 'replica-identity',
  title: 'every table has a replica identity',
  queries: {
    identities: replicaIdentitiesQuery,
    unequalColumns: columnsWithoutEqualityQuery,
    hashedNulls: nullableHashIndexColumnsQuery,
  },
  evaluate({ identities, unequalColumns, hashedNulls }, database, ground, wish) {
    const version = versionOf(ground);
    const lacking = identities.filter((table) => !table.unlogged && identityProblem(table, version) !== undefined);
    if (lacking.length === 0) return pass('all tables');
    // Where nothing is counted nobody can tell that a table is left alone.
    const written = lacking.filter(({ writes }) => writes !== 0);
    // There the source says nothing, and the whole database stands still on the target: no counter of the past is worth that.
    const silent = lacking.filter(({ generatedKey }) => generatedKey && version < generatedIdentityRejectedSince);
    const ordered = lacking.toSorted((a, b) => Number(b.writes !== 0) - Number(a.writes !== 0));
    const observed = `${countText(lacking.length, 'table')} without, ${written.length} of them written to`;
    const more = {
      required: 'a primary key that is not deferrable, or REPLICA IDENTITY USING INDEX or FULL',
      detail: `${harmOf(lacking, version)} ${writesOf(written, lacking.length)}${unlistedNote(lacking)}`,
      objects: firstObjects(ordered).map((table) => `${table.name} (${identityProblem(table, version)})`),
      fix: identityFix(
        ordered,
        incomparableColumnsByTable([...unequalColumns, ...unfound(hashedNulls, wish)]),
        database,
        version,
      ),
    };
    return written.length + silent.length > 0 ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

export const fullWithoutEqCheck = databaseCheck({
  id: 'full-without-eq',
  title: 'rows of tables with REPLICA IDENTITY FULL can be compared',
  queries: {
    identities: replicaIdentitiesQuery,
    unequalColumns: columnsWithoutEqualityQuery,
    hashedNulls: nullableHashIndexColumnsQuery,
  },
  evaluate({ identities, unequalColumns, hashedNulls }, database, ground, wish) {
    const unequal = incomparableColumnsByTable(unequalColumns);
    const full = identities.filter(({ identity, unlogged }) => identity === 'f' && !unlogged);
    const found = full.filter(({ keyed, name }) => !keyed && unequal.has(name));
    const missed =
      found.length > 0
        ? []
        : missable(hashedNulls, wish).filter(({ table }) => full.some(({ name }) => name === table));
    if (missed.length > 0) return lost(missed, database);
    if (found.length === 0) return pass(full.length === 0 ? 'no such table' : countText(full.length, 'table'));
    return fail(['continuous'], countText(found.length, 'table'), {
      required: 'a primary key, or columns of types with an equality operator',
      detail: `At the first UPDATE or DELETE the target says "could not identify an equality operator for type ${firstType(found, unequal)}", and stops applying the changes of the whole database, not only those of the table.${unlistedNote(found)}`,
      objects: firstObjects(found).map(({ name }) => `${name} (${unequal.get(name)?.join(', ')})`),
      fix: identityFix(found, unequal, database, versionOf(ground)),
    });
  },
});

/** Since 17 a target looks for a whole row by a hash index as well. */
const hashTaken = 170_000;

function missable(
  hashed: readonly NullableHashIndexColumn[],
  { targetVersion }: PreflightOptions,
): readonly NullableHashIndexColumn[] {
  const target = targetVersion === undefined ? undefined : parseMajorVersion(targetVersion);
  return target !== undefined && target < hashTaken ? [] : hashed;
}

/** So that FULL is no cure for their tables. */
function unfound(hashed: readonly NullableHashIndexColumn[], wish: PreflightOptions): readonly ColumnWithoutEquality[] {
  return missable(hashed, wish).map(({ table, column, index }) => ({
    table,
    column: `${column} (NULL is in no hash index, as ${index})`,
  }));
}

function lost(missed: readonly NullableHashIndexColumn[], database: string): CheckOutcome {
  const sure = missed.filter(({ rows }) => rows === 'violate');
  const named = sure.length > 0 ? sure : missed;
  const indexes = [...new Set(named.map(({ index }) => index))];
  const more = {
    required: 'a primary key, or no hash index over a column that takes NULL',
    detail: `PostgreSQL 17 and newer look for the row that is changed by an index, and a hash index has no NULL: such a row is not found, its UPDATE or DELETE is left out on the target, and nobody says so.${unlistedNote(named)}`,
    objects: firstObjects(named).map(({ table, column, index }) => `${table} (${column}, ${index})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: `A primary key is the best cure. Else drop the index until the cut-over and make it on the target then: ${firstObjects(
        indexes,
      )
        .map((index) => `DROP INDEX ${index}`)
        .join('; ')}.`,
    },
  };
  const observed = countText(named.length, 'table');
  return sure.length > 0 ? fail(['continuous'], observed, more) : warn(observed, more);
}

/** In the server's words, each kind of fault once. */
function harmOf(lacking: readonly TableReplicaIdentity[], version: number): string {
  const isGenerated = (table: TableReplicaIdentity) => identityProblem(table, version)?.includes('generated') === true;
  const plain = lacking.find((table) => !isGenerated(table));
  const words: string[] = [];
  if (plain !== undefined) {
    words.push(
      `From the moment the publication exists, UPDATE and DELETE of the application fail on the source: "cannot update table ${lastPart(plain.name)} because it does not have a replica identity and publishes updates".`,
    );
  }
  if (lacking.some(isGenerated)) {
    words.push(
      version >= generatedIdentityRejectedSince
        ? 'From the moment the publication exists, UPDATE and DELETE of the application fail on the source: "Replica identity must not contain unpublished generated columns."'
        : 'A generated column is not sent, so the target stops at the first UPDATE or DELETE: "publisher did not send replica identity column expected by the logical replication target relation".',
    );
  }
  return words.join(' ');
}

function writesOf(written: readonly TableReplicaIdentity[], all: number): string {
  if (written.some(({ writes }) => writes === undefined)) {
    return 'Whether anybody writes to them is not known: track_counts is off.';
  }
  if (written.length === 0) return 'None of them was updated or deleted from since the counters were reset.';
  const busiest = written.toSorted((a, b) => (b.writes ?? 0) - (a.writes ?? 0)).slice(0, 3);
  const told = busiest.map(({ name, writes }) => `${name} ${writes}`).join(', ');
  const quiet = all - written.length;
  return `UPDATE and DELETE since the counters were reset: ${told}.${quiet === 0 ? '' : ` The other ${countText(quiet, 'table')} saw none.`}`;
}

/** The server's message names the table alone, in double quotes. */
function lastPart(name: string): string {
  const part = /^(?:"(?:[^"]|"")*"|[^".]+)\.(.*)$/s.exec(name)?.[1] ?? name;
  return part.startsWith('"') ? part : `"${part}"`;
}

/** `json` of `doc json`, of the first column found. */
function firstType([first]: readonly TableReplicaIdentity[], unequal: IncomparableColumns): string {
  const described = unequal.get(first?.name ?? '')?.[0] ?? '';
  return /^(?:"(?:[^"]|"")*"|\S+) (.*)$/s.exec(described)?.[1] ?? described;
}

function versionOf({ connection: entry }: PostgresqlSourceFacts): number {
  return entry.kind === 'entered' ? entry.version : 0;
}
