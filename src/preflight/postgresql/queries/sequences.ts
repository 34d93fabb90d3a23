import type { PostgresqlQuery } from '../query.ts';
import { decodeBoolean, decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** The state of a sequence. */
export interface SourceSequence {
  /** Qualified and quoted, as a cast to regclass expects it. */
  readonly name: string;
  /** As text, because a number in JavaScript cannot hold every bigint. */
  readonly value: string | undefined;
  /** is_called: otherwise `value` is what the first nextval returns. */
  readonly called: boolean;
  /** The role can read it; otherwise there is no value. */
  readonly readable: boolean;
  /** Start value, with which it begins on the target. */
  readonly start: string;
}

/**
 * For `db sequences` alone, because each sequence costs a page. pg_sequence_last_value returns NULL for a sequence that was
 * never called, although ALTER SEQUENCE … RESTART may have moved it; that one is read as a table.
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
