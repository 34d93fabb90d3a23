import { type JsonRecord, tryParseExactJson } from '../base/json.ts';
import {
  type JsonMemberVisitor,
  noJsonValue,
  skipJsonArray,
  skipJsonObject,
  skipJsonValue,
  skipJsonWhitespace,
} from './json-value-end-finder.ts';
import { createScannedJsonTextCache, type ScannedJsonTextCache } from './scanned-json-text-cache.ts';

/** The text of a JSON object, with the positions of the objects in one of its lists. */
export interface SplitJsonList {
  /** Start and end position of each object in the list: two numbers per object. */
  readonly spans: readonly number[];
  /** Parses each object of the list with only the requested members. */
  readonly partialItems: readonly JsonRecord[];
  /**
   * The JSON text of the page with an empty list in place of the list under `key`. The JSON text after that list is not
   * validated.
   */
  readonly rest: string;
}

export type JsonListSplitter = (bytes: Buffer) => SplitJsonList | undefined;

/**
 * Finds the objects in the list under `key` without creating JavaScript values for all of it, which is most of the cost of
 * parsing. The objects can be printed as received, and numbers beyond 2^53 stay exact. The result is undefined in three cases:
 * the text up to the end of the list is not JSON or has several lines; the list contains values other than objects; or the key
 * occurs twice, where JSON.parse would use the last one.
 */
export function createJsonListSplitter(key: string, members: readonly string[]): JsonListSplitter {
  const caches: ScannedJsonTextCache[] = [];
  const tails = createScannedJsonTextCache();
  const [keyAt, memberAt] = [namesAt([key]), namesAt(members)];
  const quotedKey = Buffer.from(JSON.stringify(key));
  return (bytes) => {
    const isEscaped = bytes.includes(backslash);
    return splitList(bytes, {
      isList: (from, end) => keyAt(bytes, from, end, isEscaped) !== undefined,
      isLast: (end) => !isEscaped && bytes.indexOf(quotedKey, end) === -1,
      memberAt: (from, end) => memberAt(bytes, from, end, isEscaped),
      valueAt: (from, end) => valueAt(bytes, from, end, isEscaped),
      wanted: members.length,
      cacheAt: (length) => (caches[length] ??= createScannedJsonTextCache()),
      tails,
    });
  };
}

interface SplitOptions {
  /** Whether the member name between two byte positions of the JSON text is the name of the requested list. */
  readonly isList: (from: number, end: number) => boolean;
  /** Whether the rest of the JSON text cannot contain a second list with the same name. */
  readonly isLast: (end: number) => boolean;
  /** The requested member whose name is between two byte positions of the JSON text; undefined if none is. */
  readonly memberAt: (from: number, end: number) => string | undefined;
  /** The JavaScript value of the JSON text between two positions. */
  readonly valueAt: (from: number, end: number) => unknown;
  /** How many members of each JSON object the caller requested. */
  readonly wanted: number;
  readonly cacheAt: (nameLength: number) => ScannedJsonTextCache;
  /** Caches the end of each object: the JSON text after its last requested member. */
  readonly tails: ScannedJsonTextCache;
}

function splitList(bytes: Buffer, splitting: SplitOptions): SplitJsonList | undefined {
  const { isList, isLast, memberAt, valueAt, wanted, cacheAt, tails } = splitting;
  const spans: number[] = [];
  const partialItems: JsonRecord[] = [];
  let [listStart, listEnd] = [noJsonValue, noJsonValue];
  let skim: Record<string, unknown> = {};
  /**
   * State of the current object: number of requested members found, end of the last such member, whether the text after it
   * is cached.
   */
  let [met, metEnd, isTailKnown, isOver] = [0, 0, false, false];

  const readMember: JsonMemberVisitor = (from, name, nameEnd) => {
    const end =
      bytes[from] === openBrace ? skipCachedValue(cacheAt(nameEnd - name), bytes, from) : skipJsonValue(bytes, from, 2);
    const member = end === noJsonValue ? undefined : memberAt(name, nameEnd);
    if (member === undefined) return end;
    skim[member] = valueAt(from, end);
    met += 1;
    metEnd = end;
    if (met !== wanted) return end;
    const tailEnd = tails.matchEnd(bytes, end);
    isTailKnown = tailEnd !== noJsonValue;
    // The function skipJsonObject reads the closing brace.
    return isTailKnown ? tailEnd - 1 : end;
  };
  const readListItem = (from: number): number => {
    if (bytes[from] !== openBrace) return noJsonValue;
    skim = {};
    [met, isTailKnown] = [0, false];
    const end = skipJsonObject(bytes, from, readMember);
    // If a requested member occurs twice in an object, the JSON text after it is not cached.
    if (end !== noJsonValue && met === wanted && !isTailKnown) tails.remember(bytes, wanted === 0 ? end : metEnd, end);
    spans.push(from, end);
    partialItems.push(skim);
    return end;
  };
  const start = skipJsonWhitespace(bytes, 0);
  if (bytes[start] !== openBrace) return undefined;
  const end = skipJsonObject(bytes, start, (from, name, nameEnd) => {
    if (!isList(name, nameEnd)) return skipJsonValue(bytes, from);
    if (listStart !== noJsonValue || bytes[from] !== openBracket) return noJsonValue;
    listStart = from;
    listEnd = skipJsonArray(bytes, from, readListItem);
    // The JSON text after the end of the list is parsed separately.
    isOver = listEnd !== noJsonValue && isLast(listEnd);
    return isOver ? noJsonValue : listEnd;
  });
  if (!isOver && (end === noJsonValue || skipJsonWhitespace(bytes, end) !== bytes.length)) return undefined;
  if (listStart === noJsonValue) return { spans, partialItems, rest: bytes.toString('utf8') };
  const rest = `${bytes.toString('utf8', 0, listStart)}[]${bytes.toString('utf8', listEnd)}`;
  return { spans, partialItems, rest };
}

function skipCachedValue(caches: ScannedJsonTextCache, bytes: Buffer, from: number): number {
  const known = caches.matchEnd(bytes, from);
  if (known !== noJsonValue) return known;
  const end = skipJsonValue(bytes, from, 2);
  if (end !== noJsonValue) caches.remember(bytes, from, end);
  return end;
}

/** Parses the JSON text between two byte positions, which the caller knows to be valid JSON. */
function valueAt(bytes: Buffer, from: number, end: number, isEscaped: boolean): unknown {
  if (bytes[from] === quote && !isEscaped) return bytes.toString('utf8', from + 1, end - 1);
  const whole = end - from <= longestNumber ? digitsAt(bytes, from, end) : noJsonValue;
  if (whole !== noJsonValue) return whole;
  const json = tryParseExactJson(bytes.toString('utf8', from, end));
  return json.ok ? json.value : undefined;
}

function digitsAt(bytes: Buffer, from: number, end: number): number {
  let value = 0;
  for (let at = from; at < end; at++) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) return noJsonValue;
    value = value * 10 + digit;
  }
  return value;
}

type NameAt = (bytes: Buffer, from: number, end: number, isEscaped: boolean) => string | undefined;

/** Creates a function that returns the given name that is between two byte positions, or undefined if there is none. */
function namesAt(names: readonly string[]): NameAt {
  const quoted = names.map((name) => ({ name, text: Buffer.from(JSON.stringify(name)) }));
  /** Comparing the lengths of two names first avoids most comparisons of their bytes. */
  const isLength: boolean[] = [];
  for (const { text } of quoted) isLength[text.length] = true;
  return (bytes, from, end, isEscaped) => {
    if (isEscaped && bytes.subarray(from, end).includes(backslash)) {
      const said = JSON.parse(bytes.toString('utf8', from, end));
      return names.find((name) => name === said);
    }
    if (isLength[end - from] !== true) return undefined;
    for (const { name, text } of quoted) if (standsAt(bytes, text, from, end)) return name;
    return undefined;
  };
}

/** For so few bytes, a loop over the bytes is faster than Buffer.compare. */
function standsAt(bytes: Buffer, name: Buffer, from: number, end: number): boolean {
  if (name.length !== end - from) return false;
  for (let at = 1; at < name.length; at++) if (bytes[from + at] !== name[at]) return false;
  return true;
}

/** A whole number of at most this many digits is always exact as a double. */
const longestNumber = 15;
const [quote, zero, backslash] = [0x22, 0x30, 0x5c];
const [openBracket, openBrace] = [0x5b, 0x7b];
