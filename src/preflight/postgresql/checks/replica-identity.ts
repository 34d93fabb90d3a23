import { fail, pass, warn } from '../../finding.ts';
import type { PreflightOptions } from '../../preflight-options.ts';
import { databaseCheck } from '../check.ts';
import { columnsMissedByHashIndex } from '../hash-index-lookup.ts';
import {
  generatedIdentityRejectedSince,
  identityFix,
  identityProblem,
  incomparableColumnsByTable,
} from '../identity-fix.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type NullableHashIndexColumn, nullableHashIndexColumnsQuery } from '../queries/nullable-hash-index-columns.ts';
import {
  type ColumnWithoutEquality,
  columnsWithoutEqualityQuery,
  replicaIdentitiesQuery,
  type TableReplicaIdentity,
} from '../queries/replica-identities.ts';
import { serverVersionOf } from '../source-facts.ts';
import { countText } from '../units.ts';

export const replicaIdentityCheck = databaseCheck({
  id: 'replica-identity',
  title: 'every table has a usable replica identity',
  headline: 'A table has no usable replica identity',
  severity: { continuous: 'blocker' },
  queries: {
    identities: replicaIdentitiesQuery,
    unequalColumns: columnsWithoutEqualityQuery,
    hashedNulls: nullableHashIndexColumnsQuery,
  },
  evaluate({ identities, unequalColumns, hashedNulls }, database, facts, options) {
    const version = serverVersionOf(facts);
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
        incomparableColumnsByTable([...unequalColumns, ...unfound(hashedNulls, options)]),
        database,
        version,
      ),
    };
    return written.length + silent.length > 0 ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

/** So that FULL is no cure for their tables. */
function unfound(
  hashed: readonly NullableHashIndexColumn[],
  options: PreflightOptions,
): readonly ColumnWithoutEquality[] {
  return columnsMissedByHashIndex(hashed, options).map(({ table, column, index }) => ({
    table,
    column: `${column} (NULL is in no hash index, as ${index})`,
  }));
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
