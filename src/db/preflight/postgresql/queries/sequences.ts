import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import { decodeSequenceState, sequenceStateColumns } from '../../../../postgresql/sequence-state.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A sequence of the source, with its current value. */
export interface SourceSequence {
  /** The sequence name, qualified and quoted as a cast to regclass expects it. */
  readonly name: string;
  /** The last value as text, because a number in JavaScript cannot hold every bigint. */
  readonly value: string | undefined;
  /** is_called of the sequence: if false, `value` is what the first nextval returns. */
  readonly called: boolean;
  /** Whether the role can read the sequence; otherwise there is no value. */
  readonly readable: boolean;
  /**
   * Whether the sequence was never used, on a server before PostgreSQL 18, which reports no last value for such a
   * sequence.
   */
  readonly isUnused: boolean;
  /** Start value, with which the sequence begins on the target. */
  readonly start: string;
}

/** Only `db sequences` runs this query, because each sequence costs a page read. */
export const sequencesQuery: PostgresqlPreflightQuery<readonly SourceSequence[]> = {
  id: 'sequences',
  scope: 'database',
  sql: (version, { inRecovery }) =>
    version < 100_000
      ? undefined
      : `
        SELECT c.oid::regclass AS name, s.seqstart AS start, ${sequenceStateColumns(version)}
        FROM pg_sequence s
        JOIN pg_class c ON c.oid = s.seqrelid
        WHERE c.relpersistence <> 't'${inRecovery ? " AND c.relpersistence = 'p'" : ''}
        ORDER BY c.oid::regclass::text
      `,
  decode: (rows) =>
    rows.map((row) => {
      const state = decodeSequenceState(row);
      const read = state === 'not used' ? undefined : state;
      return {
        name: decodeTextColumn(row, 'name'),
        value: read?.value,
        called: read?.called === true,
        readable: state !== undefined,
        isUnused: state === 'not used',
        start: decodeTextColumn(row, 'start'),
      };
    }),
  absent: [],
};
