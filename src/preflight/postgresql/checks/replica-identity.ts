import { countOf } from '../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { findColumnsWithNullsMissedByHashIndex } from '../find-columns-with-nulls-missed-by-hash-index.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { nullableHashIndexColumnsQuery } from '../queries/nullable-hash-index-columns.ts';
import {
  noEqualityOperatorColumnsQuery,
  type TableWithUnsafeReplicaIdentity,
  unsafeReplicaIdentitiesQuery,
} from '../queries/replica-identities.ts';
import { laterConnectionInstanceIdentityQuery, type PostgresqlInstanceIdentity } from '../queries/server-instances.ts';
import { type WriteCountersStartTime, writeCountersResetTimeQuery } from '../queries/write-counters.ts';
import {
  describeReplicaIdentityProblem,
  generatedReplicaIdentityErrorVersion,
  groupIncomparableColumnsByTable,
  replicaIdentityFix,
} from '../replica-identity-fix.ts';
import { getPostgresqlSourceVersion } from '../source-facts.ts';

export const replicaIdentityCheck = declareDatabasePreflightCheck({
  id: 'replica-identity',
  title: 'every table has a usable replica identity',
  headline: 'A table has no usable replica identity',
  severity: { continuous: 'blocker' },
  queries: {
    identities: unsafeReplicaIdentitiesQuery,
    unequalColumns: noEqualityOperatorColumnsQuery,
    hashedNulls: nullableHashIndexColumnsQuery,
    counters: writeCountersResetTimeQuery,
    server: laterConnectionInstanceIdentityQuery,
  },
  evaluate({ identities, unequalColumns, hashedNulls, counters, server }, database, facts, options) {
    const version = getPostgresqlSourceVersion(facts);
    const lacking = identities.filter(
      (table) => !table.unlogged && describeReplicaIdentityProblem(table, version) !== undefined,
    );
    if (lacking.length === 0) return passOutcome('all tables');
    // Without statistics, or with statistics of only a few hours, the check assumes that the table is written to.
    const written = lacking.filter((table) => table.writes !== 0 || isTooYoung(counters, server, table));
    // With a generated column in the key, the source reports no error, but the whole replication stops. For such tables
    // past statistics do not reduce the severity.
    const silent = lacking.filter(({ generatedKey }) => generatedKey && version < generatedReplicaIdentityErrorVersion);
    const ordered = lacking.toSorted((a, b) => Number(written.includes(b)) - Number(written.includes(a)));
    const unsure = written.some(({ writes }) => writes === 0) ? ' or of unknown state' : '';
    const observed = `${countOf(lacking.length, 'table')} without${written.length === 0 ? '' : `, ${written.length} with writes${unsure}`}`;
    const more = {
      required: 'in every table a primary key that is not deferrable, or REPLICA IDENTITY USING INDEX or FULL',
      detail: `${impactOf(lacking, version)} ${writesOf(written, lacking.length, counters)}${buildUnlistedObjectsNote(lacking)}`,
      objects: limitFindingObjects(ordered).map(
        (table) => `${table.name} (${describeReplicaIdentityProblem(table, version)})`,
      ),
      fix: replicaIdentityFix(
        ordered,
        groupIncomparableColumnsByTable([
          ...unequalColumns,
          ...findColumnsWithNullsMissedByHashIndex(hashedNulls, options),
        ]),
        database,
        version,
      ),
    };
    return written.length + silent.length > 0
      ? failOutcome(['continuous'], observed, more)
      : warnOutcome(observed, more);
  },
});

/** The error messages of the server, one for each kind of unusable replica identity. */
function impactOf(lacking: readonly TableWithUnsafeReplicaIdentity[], version: number): string {
  const isGenerated = (table: TableWithUnsafeReplicaIdentity) =>
    describeReplicaIdentityProblem(table, version)?.includes('generated') === true;
  const plain = lacking.find((table) => !isGenerated(table));
  const sentences: string[] = [];
  if (plain !== undefined) {
    sentences.push(
      `As soon as the publication exists, UPDATE and DELETE fail on the source: "cannot update table ${lastPart(plain.name)} because it does not have a replica identity and publishes updates".`,
    );
  }
  if (lacking.some(isGenerated)) {
    sentences.push(
      version >= generatedReplicaIdentityErrorVersion
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
  { seconds, start, sinceCreation }: WriteCountersStartTime,
  server: PostgresqlInstanceIdentity | undefined,
  { olderThanCounters }: TableWithUnsafeReplicaIdentity,
): boolean {
  const isComplete = sinceCreation || (start !== undefined && server !== undefined && start <= initdbTime(server) + 60);
  return seconds !== undefined && seconds < trustedSeconds && (!isComplete || olderThanCounters);
}

/** The upper 32 bits of the system identifier are the time of initdb, in seconds since 1970. */
function initdbTime({ systemIdentifier }: PostgresqlInstanceIdentity): number {
  return Math.floor(Number(systemIdentifier) / 2 ** 32);
}

function writesOf(
  written: readonly TableWithUnsafeReplicaIdentity[],
  all: number,
  { since }: WriteCountersStartTime,
): string {
  if (written.some(({ writes }) => writes === undefined)) {
    return 'It is not known whether these tables are written to: track_counts is off.';
  }
  const start = since === '' ? '' : ` (${since})`;
  if (written.length === 0)
    return `None of these tables had an UPDATE or DELETE since the statistics were reset${start}.`;
  if (written.every(({ writes }) => writes === 0)) {
    return `It is not known whether these tables are written to: the statistics were reset less than a day ago${start}, by pg_stat_reset(), a crash, an upgrade or a failover, or the database is new. Run the preflight again a day later, or accept the finding if you know that no application changes the rows of these tables.`;
  }
  const busiest = written
    .filter(({ writes }) => writes !== 0)
    .toSorted((a, b) => (b.writes ?? 0) - (a.writes ?? 0))
    .slice(0, 3);
  const counts = busiest.map(({ name, writes }) => `${name} ${writes}`).join(', ');
  const quiet = all - written.length;
  return `UPDATE and DELETE since the statistics were reset${start}: ${counts}.${quiet === 0 ? '' : ` The other ${countOf(quiet, 'table')} had none.`}`;
}

/** The table name as in error messages of the server: in double quotes, without the schema. */
function lastPart(name: string): string {
  const part = /^(?:"(?:[^"]|"")*"|[^".]+)\.(.*)$/s.exec(name)?.[1] ?? name;
  return part.startsWith('"') ? part : `"${part}"`;
}
