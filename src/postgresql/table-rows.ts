import { createHash, hash, randomBytes } from 'node:crypto';
import { clientErrorCodes } from '../platform/network-errors.ts';
import { maxTimerMs } from '../platform/waiting.ts';
import { firstNormalOid } from './catalog-oids.ts';
import type { PostgresqlSession } from './connection.ts';
import type { CopyOut } from './copy.ts';
import type { CopyDelivery } from './message-reader.ts';
import { QueryError } from './query-error.ts';
import { quoteIdentifier, quoteLiteral } from './quote.ts';
import { readOnlySql, rollbackSql, type SafeSql, type TransactionSettings } from './search-path-safe-sql.ts';

/**
 * A table that stores rows itself, so no partitioned table and no view. The names are as in the system catalogs, not quoted.
 */
export interface OrdinaryTable {
  readonly schema: string;
  readonly name: string;
  /** The columns to read; if empty, all columns except generated ones. */
  readonly columns: readonly string[];
  /** Stored generated columns to read as well, by a query; only if `isPlanSafeSql` is true for the table. */
  readonly generated?: readonly string[];
}

export type CopyFormat = 'text' | 'binary';

/**
 * The statements, for one transaction, that read the rows of a table. The server executes COPY of a table without
 * planning a query, while planning a SELECT runs functions in its index predicates, index expressions, extended
 * statistics and CHECK constraints. If the relation has become a view, a foreign table or a partitioned table, COPY
 * fails.
 * @param version server_version_num
 */
export function copyTransaction(table: OrdinaryTable, version: number, format: CopyFormat = 'text'): readonly string[] {
  return [
    // With row_security off the server reports an error instead of leaving out rows, and does not plan the expressions
    // of a policy.
    'SET LOCAL row_security = off',
    ...(knowsRelationKindLimit(version) ? ["SET LOCAL restrict_nonsystem_relation_kind = 'view, foreign-table'"] : []),
    ...(table.generated === undefined || table.generated.length === 0
      ? [copyStatement(table, format)]
      : copyOfQuery(table, table.generated)),
  ];
}

/**
 * Reads generated columns, which COPY of a table refuses. The condition is checked under the lock of the table, and division by zero
 * ends the transaction where it is not true.
 */
function copyOfQuery({ schema, name, columns }: OrdinaryTable, generated: readonly string[]): readonly string[] {
  const quoted = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
  return [
    'SET LOCAL constraint_exclusion = off',
    `LOCK TABLE ONLY ${quoted} IN ACCESS SHARE MODE`,
    `SELECT 1 / count(*) FROM pg_class c WHERE c.oid = ${quoteLiteral(quoted)}::regclass AND ${isPlanSafeSql}`,
    `COPY (SELECT ${[...columns, ...generated].map(quoteIdentifier).join(', ')} FROM ONLY ${quoted}) TO STDOUT`,
  ];
}

/** SQL condition: the function `f` (pg_proc) is neither built in nor of a language in which only superusers create functions. */
const isUserCode = `f.oid >= ${firstNormalOid} AND f.prolang NOT IN (12, 13)`;

/** SQL condition: the object of a row `p` (pg_depend) can run code of users when a constant expression is computed. */
const runsUserCode = `CASE p.refclassid
    WHEN 'pg_proc'::regclass THEN EXISTS (SELECT 1 FROM pg_proc f WHERE f.oid = p.refobjid AND ${isUserCode})
    WHEN 'pg_operator'::regclass THEN EXISTS (
      SELECT 1 FROM pg_operator o JOIN pg_proc f ON f.oid = o.oprcode WHERE o.oid = p.refobjid AND ${isUserCode})
    WHEN 'pg_type'::regclass THEN EXISTS (
      SELECT 1 FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem
      WHERE t.oid = p.refobjid AND t.oid >= ${firstNormalOid}
        AND (t.typtype NOT IN ('b', 'e') OR e.typtype NOT IN ('b', 'e')))
    ELSE false END`;

/**
 * SQL condition: planning a SELECT of all rows of the table `c` (pg_class) runs no code of users. The planner computes constant
 * parts of index expressions, index predicates and extended statistics; with `ONLY` and without `constraint_exclusion` it reads
 * no CHECK constraint.
 */
export const isPlanSafeSql = `c.relkind = 'r' AND NOT c.relrowsecurity AND NOT EXISTS (
    SELECT 1 FROM pg_index i JOIN pg_depend p ON p.classid = 'pg_class'::regclass AND p.objid = i.indexrelid
    WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL) AND ${runsUserCode})
  AND NOT EXISTS (
    SELECT 1 FROM pg_statistic_ext x JOIN pg_depend p ON p.classid = 'pg_statistic_ext'::regclass AND p.objid = x.oid
    WHERE x.stxrelid = c.oid AND ${runsUserCode})`;

export function copyStatement({ schema, name, columns }: OrdinaryTable, format: CopyFormat = 'text'): string {
  const list = columns.length === 0 ? '' : ` (${columns.map(quoteIdentifier).join(', ')})`;
  const options = format === 'binary' ? ' (FORMAT binary)' : '';
  return `COPY ${quoteIdentifier(schema)}.${quoteIdentifier(name)}${list} TO STDOUT${options}`;
}

/** Minor releases with restrict_nonsystem_relation_kind, by major version (CVE-2024-7348). */
const relationKindLimitSince: Readonly<Record<number, number>> = { 12: 20, 13: 16, 14: 13, 15: 8, 16: 4 };

function knowsRelationKindLimit(version: number): boolean {
  const since = relationKindLimitSince[Math.floor(version / 10_000)];
  return since === undefined ? version >= 170_000 : version % 10_000 >= since;
}

/** SQL condition: COPY includes the column `a` (pg_attribute). Generated columns cannot be copied. */
export function isCopiedSql(version: number): string {
  return `a.attnum > 0 AND NOT a.attisdropped${version < 120_000 ? '' : " AND a.attgenerated = ''"}`;
}

interface ReadLimits {
  /** Time limit for reading the rows in milliseconds; unlimited by default. */
  readonly time?: number;
  /** Maximum total size of the rows in bytes; unlimited by default. */
  readonly bytes?: number;
  /** `parts`: a large row is passed in parts; by default a large row is an error. */
  readonly messages?: CopyDelivery;
  /** Called after the rows of each COPY of the message. */
  readonly ended?: () => void;
  /** Called with the bytes of each row or part. While the returned promise is pending, no rows are read. */
  readonly pace?: (bytes: number) => Promise<void> | undefined;
}

/** `stopped`: `visit` returned true; `limit`: the table has more rows than the limits allow. */
type RowsResult = 'complete' | 'stopped' | 'limit';

/**
 * Sends the message, which contains one COPY, and passes each row to `visit` until that returns true. The rows are not
 * kept in memory. The session is closed unless the result is `complete`. Throws a QueryError.
 */
export async function readRows<Message extends string>(
  session: { readonly copyOut: CopyOut<Message>; end(): Promise<void> },
  message: Message,
  visit: (row: Uint8Array) => boolean,
  { time, bytes = Number.POSITIVE_INFINITY, messages, ended, pace }: ReadLimits,
): Promise<RowsResult> {
  let end: RowsResult = 'complete';
  let received = 0;
  const stop = () => {
    end = 'limit';
    void session.end();
  };
  const timer = time === undefined ? undefined : setTimeout(stop, Math.min(time, maxTimerMs));
  try {
    await session.copyOut(
      message,
      (row) => {
        // Once the visit has ended, further rows that the server has already sent are ignored.
        if (end !== 'complete') return undefined;
        received += row.length;
        if (received > bytes) end = 'limit';
        else if (visit(row)) end = 'stopped';
        if (end === 'complete') return pace?.(row.length);
        return Promise.reject(new DOMException('enough rows were read', 'AbortError'));
      },
      messages,
      ended,
    );
  } catch (error) {
    if (end === 'complete') throw error;
    await session.end();
  } finally {
    clearTimeout(timer);
  }
  return end;
}

/** Splits a row in the text format of COPY, without its line feed, into fields; a null field is SQL NULL. */
export function splitTextRow(row: Uint8Array): readonly (string | null)[] {
  const text = Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('utf8').replace(/\n$/, '');
  return text.split('\t').map((field) => (field === '\\N' ? null : field.replace(/\\(.)/gs, unescapeCharacter)));
}

/** Whether the single field of a row in the text format is NULL. */
export function isNullField(row: Uint8Array): boolean {
  return row[0] === 0x5c && row[1] === 0x4e && (row.length === 2 || (row.length === 3 && row[2] === 0x0a));
}

/**
 * Splits a row in the binary format of COPY into fields; a null field is SQL NULL. The result has no fields at the end
 * of the data. The header of the binary format arrives with the first row
 * (https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS).
 */
export function splitBinaryRow(row: Uint8Array): readonly (Uint8Array | null)[] {
  const bytes = Buffer.from(row.buffer, row.byteOffset, row.byteLength);
  let at = bytes.subarray(0, binarySignature.length).equals(binarySignature) ? binarySignature.length + 8 : 0;
  const fields: (Uint8Array | null)[] = [];
  const count = at + 2 > bytes.length ? 0 : bytes.readInt16BE(at);
  at += 2;
  for (let field = 0; field < count; field += 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    fields.push(length < 0 ? null : bytes.subarray(at, at + length));
    at += Math.max(0, length);
  }
  return fields;
}

const binarySignature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');

function unescapeCharacter(_match: string, character: string): string {
  return controlCharacters[character] ?? character;
}

const controlCharacters: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

export interface ReadOptions extends Pick<ReadLimits, 'time' | 'pace'> {
  /** server_version_num. */
  readonly version: number;
  readonly settings: TransactionSettings;
  /** Called with each SQL message before the message is sent. */
  readonly onSend?: (message: SafeSql) => void;
}

/**
 * Passes the rows of a table, in the text format of COPY and large ones in parts, to `visit`. Resolves with the error of a
 * table that cannot be read; the session can then be used again. @throws QueryError when the session is lost
 */
export async function readByCopy(
  session: Pick<PostgresqlSession, 'query' | 'copyOut' | 'end'>,
  table: OrdinaryTable,
  visit: (part: Uint8Array) => void,
  { version, settings, time, pace, onSend }: ReadOptions,
): Promise<QueryError | undefined> {
  const message = readOnlySql(copyTransaction(table, version), settings);
  const visitAll = (part: Uint8Array) => {
    visit(part);
    return false;
  };
  onSend?.(message);
  try {
    const limits = {
      messages: 'parts',
      ...(time === undefined ? {} : { time }),
      ...(pace === undefined ? {} : { pace }),
    } as const;
    const end = await readRows(session, message, visitAll, limits);
    if (end === 'complete') return undefined;
    const reason = `the rows of ${table.schema}.${table.name} were not read within ${(time ?? 0) / 1000} s`;
    throw new QueryError(clientErrorCodes.timeout, reason, true);
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await session.query(rollbackSql);
    return error;
  }
}

/** SQLSTATEs of a missing table or column: undefined_table, undefined_column, invalid_schema_name, wrong_object_type. */
export const missingTableCodes: ReadonlySet<string> = new Set(['42P01', '42703', '3F000', '42809']);

/**
 * With these settings two servers write equal values as equal texts. Servers before PostgreSQL 12 write floating-point
 * numbers with other digits, except the first 15. The settings remove timeouts that would end a long COPY, and limit
 * the wait for the lock of a table to one minute.
 */
export function comparableTextSettings(version: number, oldest: number): TransactionSettings {
  return {
    datestyle: 'ISO, MDY',
    timezone: 'UTC',
    intervalstyle: 'postgres',
    bytea_output: 'hex',
    extra_float_digits: oldest < 120_000 ? '0' : '3',
    lc_monetary: 'C',
    quote_all_identifiers: 'off',
    statement_timeout: '0',
    lock_timeout: '60s',
    ...(version < 170_000 ? {} : { transaction_timeout: '0' }),
  };
}

/** The number of rows of a table, and a digest of the rows that does not depend on the order of the rows. */
export interface TableDigest {
  readonly rows: number;
  /** Hexadecimal. Two tables with equal digests have the same rows. Digests of different processes cannot be compared. */
  readonly digest: string;
}

interface DigestBuilder {
  /** @param part a row in the text format of COPY, or a part of a large row; the last part ends with a line feed */
  add(part: Uint8Array): void;
  content(): TableDigest;
}

/**
 * A random secret that is part of the hash of every row. Without a secret, anybody can compute two sets of rows whose hashes
 * have the same sum, in less than a second.
 */
const secret = randomBytes(32);

/** Rows up to this number of bytes are hashed in one call, which is faster. */
const maxSmallRow = 65_536;

/**
 * Adds the hashes of the rows: a sum does not depend on the order of rows, and counts equal rows as often as they
 * occur.
 */
export function createDigestBuilder(): DigestBuilder {
  let rows = 0;
  const sum = new Uint32Array(4);
  let large: ReturnType<typeof createHash> | undefined;
  const addHash = (bytes: Buffer) => {
    rows += 1;
    for (let lane = 0; lane < sum.length; lane += 1) sum[lane]! += bytes.readUInt32LE(lane * 4);
  };
  const endLargeRow = () => {
    if (large !== undefined) addHash(large.digest());
    large = undefined;
  };
  return {
    add(part) {
      // Each line feed ends a row, because COPY escapes a line feed in a value.
      const isEnd = part.at(-1) === 0x0a;
      if (large === undefined && isEnd && part.length <= maxSmallRow) {
        smallRow.set(part, secret.length);
        addHash(hash('sha256', smallRow.subarray(0, secret.length + part.length), 'buffer'));
        return;
      }
      large = (large ?? createHash('sha256').update(secret)).update(part);
      if (isEnd) endLargeRow();
    },
    content() {
      // The last row also counts if the server did not send its end.
      endLargeRow();
      return { rows, digest: [...sum].map((lane) => lane.toString(16).padStart(8, '0')).join('') };
    },
  };
}

const smallRow = Buffer.alloc(secret.length + maxSmallRow);
smallRow.set(secret);
