import type { PostgresqlQuery } from '../query.ts';
import { decodeBoolean, decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** Where a sequence stands. */
export interface SourceSequence {
  /** Qualified and quoted, as a regclass takes it. */
  readonly name: string;
  /** As text: it may be larger than a number holds exactly. */
  readonly value: string | undefined;
  /** nextval was called; otherwise `value` is what the first call gives. */
  readonly called: boolean;
  /** The role may read it; otherwise there is no value. */
  readonly readable: boolean;
  /** Where it started when it was made, and starts again on the target. */
  readonly start: string;
}

/**
 * For `db sequences` alone: each sequence costs a page. pg_sequence_last_value says nothing of one that was never called,
 * though ALTER SEQUENCE … RESTART may have moved it, so that one is read as a table, which takes a query that is made up on
 * the server.
 */
export const sequencesQuery: PostgresqlQuery<readonly SourceSequence[]> = {
  id: 'sequences',
  scope: 'database',
  sql: (version, { inRecovery }) =>
    version < 100_000
      ? undefined
      : `
        SELECT
          q.name,
          q.start,
          q.readable,
          q.last,
          CASE
            WHEN q.readable AND q.selectable AND q.last IS NULL
              THEN query_to_xml(format('SELECT last_value AS v FROM %s', q.name), false, true, '')::text
          END AS fresh
        FROM (
          SELECT
            c.oid::regclass AS name,
            s.seqstart AS start,
            has_sequence_privilege(c.oid, 'USAGE,SELECT') AS readable,
            has_sequence_privilege(c.oid, 'SELECT') AS selectable,
            CASE WHEN has_sequence_privilege(c.oid, 'USAGE,SELECT') THEN pg_sequence_last_value(c.oid) END AS last
          FROM pg_sequence s
          JOIN pg_class c ON c.oid = s.seqrelid
          WHERE c.relpersistence <> 't'${inRecovery ? " AND c.relpersistence = 'p'" : ''}
          OFFSET 0
        ) q
        ORDER BY q.name::text
      `,
  decode: (rows) =>
    rows.map((row) => {
      const last = decodeOptionalText(row, 'last');
      return {
        name: decodeText(row, 'name'),
        value: last ?? /<v>(-?\d+)<\/v>/.exec(decodeText(row, 'fresh'))?.[1],
        called: last !== undefined,
        readable: decodeBoolean(row, 'readable'),
        start: decodeText(row, 'start'),
      };
    }),
  absent: [],
  grant: grantMonitorRole,
};
