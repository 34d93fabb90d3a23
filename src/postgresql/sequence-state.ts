import type { PostgresqlRow } from './rows.ts';

/**
 * The state of a sequence. Sequences are read by object id: a SELECT would use the name, and if a table took this name
 * in between, planning the SELECT would run functions of its owner.
 */
interface SequenceState {
  /** last_value of the sequence, as text, because a number in JavaScript cannot hold every bigint. */
  readonly value: string;
  /** is_called of the sequence: if false, `value` is what the first nextval returns. */
  readonly called: boolean;
}

/**
 * SQL: columns `seq_value` and `seq_called` of the sequence `c` (pg_class). Both columns are NULL if the sequence
 * cannot be read. Before PostgreSQL 18 no function returns the value of a sequence that was not used yet: `seq_called`
 * is then false, and `seq_value` is NULL.
 * @param version server_version_num, 10 or newer
 */
export function sequenceStateColumns(version: number): string {
  const mayUse = "has_sequence_privilege(c.oid, 'USAGE,SELECT')";
  const last = `CASE WHEN ${mayUse} THEN pg_sequence_last_value(c.oid) END`;
  if (version < 180_000)
    return `${last} AS seq_value, CASE WHEN ${mayUse} THEN pg_sequence_last_value(c.oid) IS NOT NULL END AS seq_called`;
  // With only the privilege USAGE, pg_sequence_last_value returns a value for a sequence that was used; no other
  // function does.
  const data = (column: string) =>
    `(SELECT d.${column} FROM pg_get_sequence_data(c.oid) d WHERE has_sequence_privilege(c.oid, 'SELECT'))`;
  return `coalesce(${data('last_value')}, ${last}) AS seq_value,
    coalesce(${data('is_called')}, CASE WHEN ${mayUse} THEN ${last} IS NOT NULL END) AS seq_called`;
}

/**
 * `not used`: a sequence that was never used, and whose next value is not known: it is the start value, unless setval
 * or ALTER SEQUENCE … RESTART changed it. undefined if the role cannot read the sequence.
 */
export function decodeSequenceState(row: PostgresqlRow): SequenceState | 'not used' | undefined {
  const { seq_value: value, seq_called: called } = row;
  if (called == null) return undefined;
  return value == null ? 'not used' : { value, called: called === 't' };
}

/** A query with which the owner of a sequence that was not used yet can read its state. Names are quoted. */
export function sequenceStateQuery(quotedName: string): string {
  return `SELECT last_value, is_called FROM ${quotedName}`;
}
