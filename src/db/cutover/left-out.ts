import { listFailures, type Migration, readMigratedDatabases } from '../../api/online-migration.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { ConnectError } from '../../platform/network-errors.ts';
import { connectPostgresql } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { quoteLiteral } from '../../postgresql/quote.ts';
import type { DbSource } from '../source/index.ts';
import { queryCatalogRows } from './postgresql/tables.ts';

/** A database of the source that `--ignore-dbs` leaves out of the cut-over, so that its application must stay there. */
export interface LeftOut {
  readonly database: string;
  /** Whether the service lists it as a part of the migration, so that the target may have a copy of it. */
  readonly isOfMigration: boolean;
  /** Why its migration failed. */
  readonly failure?: string;
  /** The owner of its copy on the target. */
  readonly copyOwner?: string;
}

/** What the service says of the databases that are left out. */
export function listLeftOut(
  shown: Pick<Migration, 'status' | 'raw'> | undefined,
  ignoreDbs: readonly string[],
): readonly LeftOut[] {
  const listed = shown === undefined ? [] : readMigratedDatabases(shown);
  const failures = shown === undefined ? [] : listFailures(shown);
  return [...new Set(ignoreDbs)].map((database) => {
    const failure = failures.find((one) => one.database === database)?.reason;
    return {
      database,
      isOfMigration: listed.some(({ name }) => name === database),
      ...(failure === undefined ? {} : { failure }),
    };
  });
}

/**
 * Adds what the target has of them. Only the migration's own databases are looked up: one such as `postgres` is on every server.
 * A target that does not answer leaves this unknown.
 */
export async function findCopies(
  leftOut: readonly LeftOut[],
  target: DbSource,
  signal: AbortSignal,
): Promise<readonly LeftOut[]> {
  const names = leftOut.filter(({ isOfMigration }) => isOfMigration).map(({ database }) => quoteLiteral(database));
  if (target.engine !== 'postgresql' || names.length === 0) return leftOut;
  try {
    const { source } = target;
    const options = { dbname: source.dbname, limit: 10_000, signal, applicationName: 'cloudctl-cutover' };
    const session = await connectPostgresql(source, options);
    try {
      const rows = await queryCatalogRows(
        session,
        `SELECT datname, pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname IN (${names.join(', ')})`,
      );
      return leftOut.map((one) => {
        const copyOwner = one.isOfMigration ? rows.find(({ datname }) => datname === one.database)?.owner : undefined;
        return copyOwner == null ? one : { ...one, copyOwner };
      });
    } finally {
      await session.end();
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof ConnectError || error instanceof QueryError)) throw error;
    return leftOut;
  }
}

/** Such as `Not migrated: crm, postgres. Keep their applications on the source. crm failed: …`; undefined if none is left out. */
export function describeLeftOut(leftOut: readonly LeftOut[]): string | undefined {
  if (leftOut.length === 0) return undefined;
  const whose = leftOut.length === 1 ? 'its application' : 'their applications';
  const facts = leftOut.flatMap(({ database, failure, copyOwner }) => [
    ...(failure === undefined ? [] : [`The migration of ${database} failed: ${failure}.`]),
    ...(copyOwner === undefined
      ? []
      : [
          `The target has a database ${database}, owned by ${copyOwner}: it is no current copy; drop it before ${database} is migrated again.`,
        ]),
  ]);
  const names = leftOut.map(({ database }) => database).join(', ');
  return sanitizeReportLine([`Not migrated: ${names}. Keep ${whose} on the source.`, ...facts].join(' '));
}
