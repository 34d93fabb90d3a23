import { isUtf8 } from 'node:buffer';
import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import { typeOids } from '../../../../postgresql/catalog-oids.ts';
import { missingTableCodes, splitTextRow } from '../../../../postgresql/table-rows.ts';
import type { KeyColumn, UniqueIndex } from '../queries/constraints.ts';
import type { ScannedTable } from '../queries/tables.ts';

interface ByteValidator {
  /** Whether the bytes of a complete row are valid in the encoding. */
  isValid(row: Uint8Array): boolean;
  /**
   * Checks the encoding of a row that arrives in several parts. `onInvalid` receives the field number of each invalid
   * byte sequence.
   */
  scan(part: Uint8Array, onInvalid: (field: number) => void): void;
  /** Begins a row. */
  reset(): void;
}

/** `unknown`: this program has no rules for the encoding. */
type ByteClass = 'any bytes' | 'multibyte' | 'unknown';

/** Single-byte encodings accept every byte but zero, which COPY never sends. */
export function byteClass(encoding: string): ByteClass {
  if (rules.has(encoding)) return 'multibyte';
  return singleByte.test(encoding) ? 'any bytes' : 'unknown';
}

const singleByte = /^(SQL_ASCII|LATIN([1-9]|10)|ISO_8859_[5-8]|WIN(866|874|125[0-8])|KOI8[RU])$/;

/**
 * Checks bytes as the server does when it receives rows (src/common/wchar.c). In every server encoding a byte below 128
 * is a complete character. Returns undefined if every byte is valid in the encoding, or if the rules of the encoding
 * are not known.
 */
export function createByteValidator(encoding: string): ByteValidator | undefined {
  const followersOf = rules.get(encoding);
  if (followersOf === undefined) return undefined;
  const table = Array.from({ length: 256 }, (_, lead) => (lead < 0x80 ? none : followersOf(lead)));
  let expected: Followers = none;
  let at = 0;
  let field = 0;
  const reset = () => {
    expected = none;
    at = 0;
    field = 0;
  };
  const scan: ByteValidator['scan'] = (part, onInvalid) => {
    for (const byte of part) {
      if (at < expected.length) {
        const [low, high] = expected[at]!;
        if (byte >= low && byte <= high) {
          at += 1;
          continue;
        }
        onInvalid(field);
        expected = none;
        at = 0;
      }
      if (byte === tab) field += 1;
      const next = table[byte];
      if (next === undefined) onInvalid(field);
      expected = next ?? none;
      at = 0;
    }
  };
  return {
    isValid(row) {
      if (encoding === 'UTF8') return isUtf8(row);
      let valid = true;
      reset();
      scan(row, () => {
        valid = false;
      });
      return valid;
    },
    scan,
    reset,
  };
}

const tab = 0x09;

/** The ranges of the bytes that follow the first byte of a character. */
type Followers = readonly (readonly [low: number, high: number])[];

const none: Followers = [];
const utf8: Followers[number] = [0x80, 0xbf];
const euc: Followers[number] = [0xa1, 0xfe];

/**
 * For each encoding, returns the allowed ranges of the bytes that follow a first byte of 128 or more; undefined if no
 * character begins with this byte.
 */
const rules: ReadonlyMap<string, (lead: number) => Followers | undefined> = new Map([
  ['UTF8', utf8Followers],
  ['EUC_JP', eucJpFollowers],
  ['EUC_JIS_2004', eucJpFollowers],
  ['EUC_KR', eucFollowers],
  ['EUC_CN', eucFollowers],
  ['EUC_TW', (lead: number) => (lead === 0x8e ? [[0xa1, 0xa7], euc, euc] : eucFollowers(lead))],
]);

/** The UTF-8 validation accepts neither overlong forms nor surrogates (RFC 3629, section 4). */
function utf8Followers(lead: number): Followers | undefined {
  if (lead < 0xc2 || lead > 0xf4) return undefined;
  if (lead < 0xe0) return [utf8];
  if (lead < 0xf0) return [lead === 0xe0 ? [0xa0, 0xbf] : lead === 0xed ? [0x80, 0x9f] : utf8, utf8];
  return [lead === 0xf0 ? [0x90, 0xbf] : lead === 0xf4 ? [0x80, 0x8f] : utf8, utf8, utf8];
}

function eucJpFollowers(lead: number): Followers | undefined {
  if (lead === 0x8e) return [[0xa1, 0xdf]];
  return lead === 0x8f ? [euc, euc] : eucFollowers(lead);
}

function eucFollowers(lead: number): Followers | undefined {
  return lead >= 0xa1 && lead <= 0xfe ? [euc] : undefined;
}

/**
 * A unique index whose keys are compared. `columns`: the position of each key column among the copied columns, which
 * begin with all key columns.
 */
interface ScannedKey {
  readonly columns: readonly number[];
  /** NULLS NOT DISTINCT: rows with NULL are compared too. */
  readonly nullsEqual: boolean;
}

export interface ScannerOptions {
  /** Number of columns at the start of each row that belong to unique keys. */
  readonly keyColumns: number;
  readonly keys: readonly ScannedKey[];
  /**
   * This function is called for each unique key of each row. It is not called for a key with a NULL that is never equal
   * to another key. `row` contains the complete row if rows do not arrive in parts.
   */
  readonly onKey: (key: number, high: number, low: number, row: Uint8Array) => void;
  /** The encoding of the bytes, as pg_encoding_to_char() names it; undefined if the bytes are not checked. */
  readonly encoding?: string | undefined;
  /** A random key, so that the owner of the data cannot choose values with equal hashes. */
  readonly seeds: readonly [number, number];
}

export interface RowScanner {
  /** @param part a row in the text format of COPY, or a part of a large row; the last part ends with a line feed */
  add(part: Uint8Array): void;
  readonly found: RowStatistics;
}

/** The rows, sizes and invalid bytes that the scan of a table has found so far. */
export interface RowStatistics {
  readonly rows: number;
  readonly bytes: number;
  /** Bytes of the longest row. */
  readonly longestRow: number;
  /** Number of rows with invalid bytes, by the position of the column. */
  readonly invalid: ReadonlyMap<number, number>;
}

/**
 * Reads rows without decoding them. COPY escapes tabs and line feeds in values, so two values are equal if their bytes
 * are equal.
 */
export function createRowScanner({ keyColumns, keys, onKey, encoding, seeds }: ScannerOptions): RowScanner {
  const validator = encoding === undefined ? undefined : createByteValidator(encoding);
  const invalid = new Map<number, number>();
  const found = { rows: 0, bytes: 0, longestRow: 0, invalid };
  const fields = createFieldHasher(keyColumns, seeds);
  let rowBytes = 0;
  const invalidFields = new Set<number>();
  const onInvalid = (field: number) => void invalidFields.add(field);
  return {
    found,
    add(part) {
      const isWhole = rowBytes === 0 && part.at(-1) === lineFeed;
      rowBytes += part.length;
      found.bytes += part.length;
      fields.add(part);
      // A whole row is tested first, which is fast. Only if the row is not valid, the column with the invalid bytes is
      // searched.
      if (validator !== undefined && !(isWhole && validator.isValid(part))) {
        if (isWhole) validator.reset();
        validator.scan(part, onInvalid);
      }
      if (part.at(-1) !== lineFeed) return;
      found.rows += 1;
      found.longestRow = Math.max(found.longestRow, rowBytes);
      if (invalidFields.size > 0) {
        for (const field of invalidFields) invalid.set(field, (invalid.get(field) ?? 0) + 1);
        invalidFields.clear();
      }
      if (!isWhole) validator?.reset();
      for (let key = 0; key < keys.length; key += 1) {
        const { columns, nullsEqual } = keys[key]!;
        let [high, low] = seeds;
        let isDistinct = false;
        for (const column of columns) {
          isDistinct ||= fields.isNull[column] === 1;
          high = mix(high, fields.high[column]!, 0x85ebca6b);
          low = mix(low, fields.low[column]!, 0xc2b2ae35);
        }
        if (!isDistinct || nullsEqual) onKey(key, finish(high), finish(low), part);
      }
      rowBytes = 0;
      fields.reset();
    },
  };
}

export interface FieldTest {
  /** The position of the column. */
  readonly position: number;
  readonly isFound: (field: string | null) => boolean;
}

/** Tests fields of rows that arrive in parts. A field above 64 MiB is left out. */
export function createFieldTester(tests: readonly FieldTest[]): {
  add(part: Uint8Array): void;
  /** Undefined: no field was found, and not all were tested. */
  result(test: FieldTest): boolean | undefined;
} {
  const positions = new Set(tests.map(({ position }) => position));
  const found = new Set<FieldTest>();
  const incomplete = new Set<number>();
  let position = 0;
  let pieces: Uint8Array[] = [];
  let size = 0;
  const endField = () => {
    if (size > maxTested) incomplete.add(position);
    else if (positions.has(position)) {
      const [field = null] = splitTextRow(Buffer.concat(pieces));
      for (const test of tests) if (test.position === position && test.isFound(field)) found.add(test);
    }
    pieces = [];
    size = 0;
  };
  return {
    add(part) {
      let start = 0;
      for (let at = 0; at <= part.length; at += 1) {
        const byte = part[at];
        if (byte !== undefined && byte !== tab && byte !== lineFeed) continue;
        size += at - start;
        // The bytes of each received part of a row are overwritten by the next part.
        if (positions.has(position) && size <= maxTested) pieces.push(Uint8Array.from(part.subarray(start, at)));
        start = at + 1;
        if (byte === undefined) break;
        endField();
        position = byte === tab ? position + 1 : 0;
      }
    },
    result: (test) => found.has(test) || (incomplete.has(test.position) ? undefined : false),
  };
}

const maxTested = 64 * 2 ** 20;

/**
 * Joins the parts of a row. A row above 16 MiB is left out. The row contains only the columns of an index, and an index
 * entry has at most some kB after compression.
 */
export function joinParts(take: (row: Uint8Array) => void): (part: Uint8Array) => void {
  let parts: Uint8Array[] = [];
  let size = 0;
  return (part) => {
    const isEnd = part.at(-1) === lineFeed;
    if (isEnd && size === 0) return take(part);
    size += part.length;
    // The bytes of each received part of a row are overwritten by the next part.
    if (size <= maxJoined) parts.push(Uint8Array.from(part));
    if (!isEnd) return undefined;
    if (size <= maxJoined) take(Buffer.concat(parts));
    parts = [];
    size = 0;
  };
}

const maxJoined = 16 * 2 ** 20;

const lineFeed = 0x0a;
const backslash = 0x5c;
const letterN = 0x4e;

interface FieldHasher {
  add(part: Uint8Array): void;
  reset(): void;
  readonly high: Int32Array;
  readonly low: Int32Array;
  /** For each hashed field: 1 if the field is NULL, otherwise 0. */
  readonly isNull: Uint8Array;
}

/** Hashes of the first `count` fields of a row. */
function createFieldHasher(count: number, [highSeed, lowSeed]: readonly [number, number]): FieldHasher {
  const result = { high: new Int32Array(count), low: new Int32Array(count), isNull: new Uint8Array(count) };
  let field = 0;
  let high = highSeed;
  let low = lowSeed;
  let length = 0;
  let maybeNull = true;
  const begin = () => {
    high = highSeed;
    low = lowSeed;
    length = 0;
    maybeNull = true;
  };
  return {
    ...result,
    reset() {
      field = 0;
      begin();
    },
    add(part) {
      for (let at = 0; field < count && at < part.length; at += 1) {
        const byte = part[at]!;
        if (byte === tab || byte === lineFeed) {
          result.high[field] = finish(high);
          result.low[field] = finish(low ^ length);
          // `\N` is NULL; a backslash in a value is doubled.
          result.isNull[field] = maybeNull && length === 2 ? 1 : 0;
          field += 1;
          begin();
        } else {
          if (length < 2 && byte !== (length === 0 ? backslash : letterN)) maybeNull = false;
          high = mix(high, byte, 0x85ebca6b);
          low = mix(low, byte, 0xc2b2ae35);
          length += 1;
        }
      }
    },
  };
}

/** Steps of MurmurHash3, with another factor for each half of the hash. */
function mix(hash: number, value: number, factor: number): number {
  const product = Math.imul(hash ^ value, factor);
  return (product << 13) | (product >>> 19);
}

function finish(hash: number): number {
  let one = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  one = Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  return (one ^ (one >>> 16)) >>> 0;
}

/** Why the keys of a unique index are not compared. */
export type UncheckedReason =
  | 'expression'
  | 'partial_index'
  | 'access_method'
  | 'operator_class'
  | 'collation'
  | 'type'
  | 'generated_column'
  | 'too_many_rows'
  | 'table_not_read';

/** A unique index whose keys were not compared. */
export interface UncheckedIndex {
  readonly index: string;
  readonly table: string;
  readonly reason: UncheckedReason;
}

export interface ComparableKey extends ScannedKey {
  readonly index: string;
  /** The names of the columns of the key, as the catalog contains them. */
  readonly names: readonly string[];
}

/** Which columns of a table are read, and which unique keys are compared. */
export interface ScanPlan {
  /** Names of the columns in the order of COPY: those of keys first. */
  readonly columns: readonly string[];
  /** Number of names at the start of `columns` that belong to unique keys. */
  readonly keyColumns: number;
  readonly keys: readonly ComparableKey[];
  readonly unchecked: readonly UncheckedIndex[];
}

/** @param indexes the unique indexes of the table */
export function planScan({ table, columns }: ScannedTable, indexes: readonly UniqueIndex[]): ScanPlan {
  const judged = indexes.map((index) => ({ index, reason: obstacleOf(index, columns) }));
  const comparable = judged.filter(({ reason }) => reason === undefined).map(({ index }) => index);
  const inKeys = [...new Set(comparable.flatMap(({ key }) => key.map(({ number }) => number)))];
  const others = [...columns.keys()].filter((number) => !inKeys.includes(number));
  return {
    columns: [...inKeys, ...others].flatMap((number) => columns.get(number) ?? []),
    keyColumns: inKeys.length,
    keys: comparable.map(({ index, key, nullsEqual }) => ({
      index,
      nullsEqual,
      names: key.flatMap(({ number }) => columns.get(number) ?? []),
      columns: key.map(({ number }) => inKeys.indexOf(number)),
    })),
    unchecked: judged.flatMap(({ index, reason }) =>
      reason === undefined ? [] : [{ index: index.index, table, reason }],
    ),
  };
}

function obstacleOf(index: UniqueIndex, columns: ReadonlyMap<number, string>): UncheckedReason | undefined {
  if (!index.isBtree) return 'access_method';
  if (index.isPartial) return 'partial_index';
  if (index.hasExpression) return 'expression';
  // Only generated columns are missing in `columns`, because COPY cannot read them; a key has no system columns.
  if (index.key.some(({ number }) => !columns.has(number))) return 'generated_column';
  if (index.key.some(({ comparedType }) => comparedType === 0)) return 'operator_class';
  if (index.key.some(({ isDeterministic }) => !isDeterministic)) return 'collation';
  return index.key.every(isByteEqual) ? undefined : 'type';
}

/**
 * Whether two values of the column are equal if, and only if, they have the same text. This is false for float (0 and
 * -0), interval (24:00:00 and 1 day), jsonb, arrays, ranges and composites. For numeric and character it is true only
 * with a fixed scale or length.
 */
export function isByteEqual({ comparedType, typeModifier }: Pick<KeyColumn, 'comparedType' | 'typeModifier'>): boolean {
  if (comparedType === typeOids.numeric || comparedType === typeOids.bpchar) return typeModifier >= 0;
  return typesEqualByBytes.has(comparedType);
}

const typesEqualByBytes: ReadonlySet<number> = new Set([
  typeOids.bool,
  typeOids.bytea,
  typeOids.char,
  typeOids.name,
  typeOids.int8,
  typeOids.int2,
  typeOids.int4,
  typeOids.text,
  typeOids.oid,
  typeOids.macaddr8,
  typeOids.macaddr,
  typeOids.inet,
  typeOids.date,
  typeOids.time,
  typeOids.timestamp,
  typeOids.timestamptz,
  typeOids.bit,
  typeOids.varbit,
  typeOids.uuid,
  typeOids.pg_lsn,
  typeOids.anyenum,
]);

/** Why a table was not read to its end. */
export type UnreadReason =
  | 'damaged'
  | 'row_too_large'
  | 'row_security'
  | 'no_privilege'
  | 'dropped_or_changed'
  | 'locked'
  | 'recovery_conflict'
  | 'connection_ended'
  | 'no_connection'
  | 'cancelled'
  | 'time_limit'
  | 'out_of_memory'
  | 'other';

/** @param error its code is an SQLSTATE, or one of `clientErrorCodes` */
export function unreadReason(
  { code, message }: { readonly code: string; readonly message: string },
  { isSecured }: Pick<ScannedTable, 'isSecured'>,
): UnreadReason {
  if (missingTableCodes.has(code)) return 'dropped_or_changed';
  // PostgreSQL reports the same SQLSTATE for a row-level security policy (with row_security = off) and for a missing
  // privilege.
  if (code === '42501') return isSecured ? 'row_security' : 'no_privilege';
  const size = /^invalid memory alloc request size (\d+)$/.exec(message)?.[1];
  // A request for more memory than the largest row needs is caused by damage: the stored length is wrong.
  if (size !== undefined) return Number(size) <= maxRequestedBytes ? 'row_too_large' : 'damaged';
  if (code.startsWith('08')) return 'connection_ended';
  return reasonOfCode.get(code) ?? 'other';
}

/**
 * The memory that a value of 1 GB needs as hexadecimal text (two characters for each byte), plus a reserve for other
 * bytes of the row.
 */
const maxRequestedBytes = 2 ** 31 + 1024;

const reasonOfCode: ReadonlyMap<string, UnreadReason> = new Map([
  // data_corrupted, index_corrupted, internal_error, io_error, undefined_file
  ...['XX001', 'XX002', 'XX000', '58030', '58P01'].map((code) => [code, 'damaged'] as const),
  // program_limit_exceeded: "Cannot enlarge string buffer"
  ['54000', 'row_too_large'],
  ['53200', 'out_of_memory'],
  ['55P03', 'locked'],
  ['40001', 'recovery_conflict'],
  ['57014', 'cancelled'],
  ...['57P01', '57P02', '57P03', '25P03', clientErrorCodes.closed].map((code) => [code, 'connection_ended'] as const),
  ...[clientErrorCodes.aborted, clientErrorCodes.timeout].map((code) => [code, 'time_limit'] as const),
]);

/** Whether the rows of the table cannot be copied by any migration method. */
export function isUncopyable(reason: UnreadReason): boolean {
  return reason === 'damaged' || reason === 'row_too_large';
}
