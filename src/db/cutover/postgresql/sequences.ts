import { nearestWord } from '../../../cli/values.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { singleLineSql } from '../../../postgresql/psql-script.ts';
import { quoteLiteral, requoteName } from '../../../postgresql/quote.ts';
import { decodeText } from '../../../postgresql/rows.ts';
import { decodeSequenceState, sequenceStateColumns } from '../../../postgresql/sequence-state.ts';
import { databasesQuery, databasesToCompare, rowsQuery } from '../../preflight/queries.ts';
import { compareSequences } from '../comparison.ts';
import type { SequenceDifferences } from '../pair.ts';
import type { SequenceComparison } from '../rehearse/report.ts';
import {
  queryCatalogRows,
  readAscendingSequences,
  readPostgresqlServerVersion,
  readSequenceStatesAsText,
} from './tables.ts';

/**
 * The sequences whose values differ on the target. The comparison only reads both servers. Rejects with a ConnectError or a QueryError if a server cannot be read.
 */
export async function findSequenceDifferences(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  { ignoreDbs, signal }: { readonly ignoreDbs: readonly string[]; readonly signal: AbortSignal },
): Promise<SequenceDifferences> {
  const names = await withReadSession(source, source.dbname, signal, async (session) => {
    const sql = databasesQuery.sql(await readPostgresqlServerVersion(session), { inRecovery: false, superuser: false });
    return sql === undefined
      ? [source.dbname]
      : databasesToCompare(databasesQuery.decode(await queryCatalogRows(session, sql)), ignoreDbs, nearestWord);
  });
  const found: SequenceDifferences[] = [];
  for (const name of names) {
    const [here, ascending] = await withReadSession(source, name, signal, async (session) => [
      await readSequenceStatesAsText(session),
      await readAscendingSequences(session),
    ]);
    if (here.size === 0) continue;
    const there = await withReadSession(target, name, signal, readSequenceStatesAsText);
    found.push(describeDifferences(name, compareSequences(here, there, here), ascending));
  }
  return {
    differences: found.flatMap(({ differences }) => differences),
    ahead: found.flatMap(({ ahead }) => ahead),
  };
}

/** @param ascending the sequences that only count up */
export function describeDifferences(
  database: string,
  compared: readonly SequenceComparison[],
  ascending: ReadonlySet<string>,
): SequenceDifferences {
  const isHigher = ({ name, source, target }: SequenceComparison) =>
    ascending.has(name) && source !== null && target !== null && numberOf(target) > numberOf(source);
  const found = compared.flatMap((one) => {
    const name = `${database}: ${one.name}`;
    if (one.state === 'not_comparable') return [{ text: `${name} (the role may not read it)`, isAhead: false }];
    if (one.state !== 'differs') return [];
    const isAhead = isHigher(one);
    return [{ text: isAhead ? `${name} (the target is ahead: ${one.target}, source ${one.source})` : name, isAhead }];
  });
  return {
    differences: found.map(({ text }) => text),
    ahead: found.filter(({ isAhead }) => isAhead).map(({ text }) => text),
  };
}

/** A dot says that the value was not used yet. */
function numberOf(state: string): bigint {
  const digits = /^(-?\d{1,19})(\.?)$/.exec(state);
  return digits === null ? 0n : 2n * BigInt(digits[1] ?? 0) - (digits[2] === '' ? 0n : 1n);
}

export async function withReadSession<T>(
  server: PostgresqlEndpoint,
  dbname: string,
  signal: AbortSignal,
  work: (session: PostgresqlSession) => Promise<T>,
): Promise<T> {
  const session = await connectPostgresql(server, {
    dbname,
    limit: 10_000,
    signal,
    applicationName: 'cloudctl-cutover',
  });
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

/** A sequence of the source, with its current value. */
interface SourceSequence {
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
export const sequencesQuery = rowsQuery<SourceSequence>({
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
  row: (row) => {
    const state = decodeSequenceState(row);
    const read = state === 'not used' ? undefined : state;
    return {
      name: decodeText(row, 'name'),
      value: read?.value,
      called: read?.called === true,
      readable: state !== undefined,
      isUnused: state === 'not used',
      start: decodeText(row, 'start'),
    };
  },
});

/** The SQL that sets the sequences of one database to their values on the target. */
export interface SequenceScript {
  /** The statements must run on the target, in the database with the name of the source database. */
  readonly statements: readonly string[];
  /** Sequences that the role of the migration cannot read. */
  readonly hidden: readonly string[];
  /** Sequences whose value can be read only with a SELECT by the owner of the sequence. */
  readonly unused: readonly string[];
}

/**
 * Builds the statements that set the sequences on the target. A sequence that was never used or changed needs no
 * statement, because it starts on the target with the same value.
 */
export function sequenceScript(states: readonly SourceSequence[]): SequenceScript {
  const isReadable = ({ readable, value }: SourceSequence) =>
    readable && (value === undefined || /^-?\d{1,19}$/.test(value));
  return {
    statements: states
      .filter(isReadable)
      .flatMap(({ name, value, called, start }) =>
        value === undefined || (!called && value === start)
          ? []
          : (singleLineSql(`SELECT pg_catalog.setval(${quoteLiteral(requoteName(name))}, ${value}, ${called})`) ?? []),
      ),
    hidden: states.filter((state) => !isReadable(state)).map(({ name }) => name),
    unused: states.filter(({ isUnused }) => isUnused).map(({ name }) => name),
  };
}
