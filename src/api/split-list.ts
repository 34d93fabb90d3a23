import { type JsonRecord, parseExactJson } from '../json.ts';
import { type ByteSpanCache, createByteSpanCache } from './byte-span-cache.ts';
import { noJsonValue, type ReadMember, skipArray, skipBlanks, skipObject, skipValue } from './json-scan.ts';

/** The text of a JSON object, with the objects of one of its lists found in it. */
export interface SplitList {
  /** Where each of them begins and ends: two numbers for each. */
  readonly spans: readonly number[];
  /** Each of them with only the members that were asked for. */
  readonly partialItems: readonly JsonRecord[];
  /** The text with an empty list in place of this one; what follows the list may yet turn out to be no JSON. */
  readonly rest: string;
}

export type ListSplitter = (bytes: Buffer) => SplitList | undefined;

/**
 * Takes the list under `key` apart without making values of all of it, which is most of what reading it costs: its objects can
 * be printed as they came, and numbers beyond 2^53 stay what they are.
 * undefined: up to the end of the list it is no JSON, or stands on several lines; the list holds more than objects; or there
 * are two such lists, of which JSON.parse would take the last.
 */
export function createListSplitter(key: string, members: readonly string[]): ListSplitter {
  const familiar: ByteSpanCache[] = [];
  const tails = createByteSpanCache();
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
      familiarAt: (length) => (familiar[length] ??= createByteSpanCache()),
      tails,
    });
  };
}

interface SplitOptions {
  /** Whether the name between two places is that of the list. */
  readonly isList: (from: number, end: number) => boolean;
  /** Whether no other list of that name can follow. */
  readonly isLast: (end: number) => boolean;
  /** The name between two places, if it is one of the members that were asked for. */
  readonly memberAt: (from: number, end: number) => string | undefined;
  /** What the JSON text between two places says. */
  readonly valueAt: (from: number, end: number) => unknown;
  /** How many members were asked for. */
  readonly wanted: number;
  readonly familiarAt: (nameLength: number) => ByteSpanCache;
  /** What follows the last of the members that were asked for, to the end of an object. */
  readonly tails: ByteSpanCache;
}

function splitList(bytes: Buffer, splitting: SplitOptions): SplitList | undefined {
  const { isList, isLast, memberAt, valueAt, wanted, familiarAt, tails } = splitting;
  const spans: number[] = [];
  const skims: JsonRecord[] = [];
  let [listStart, listEnd] = [noJsonValue, noJsonValue];
  let skim: Record<string, unknown> = {};
  // Of the object that is read: how many of its members were asked for, where the last of them ends, and whether what follows is known.
  let [met, metEnd, isTailKnown, isOver] = [0, 0, false, false];

  const readMember: ReadMember = (from, name, nameEnd) => {
    const end =
      bytes[from] === openBrace ? skipCachedValue(familiarAt(nameEnd - name), bytes, from) : skipValue(bytes, from, 2);
    const member = end === noJsonValue ? undefined : memberAt(name, nameEnd);
    if (member === undefined) return end;
    skim[member] = valueAt(from, end);
    met += 1;
    metEnd = end;
    if (met !== wanted) return end;
    const tailEnd = tails.matchEnd(bytes, end);
    isTailKnown = tailEnd !== noJsonValue;
    // The brace that ends the object is left to whoever reads it.
    return isTailKnown ? tailEnd - 1 : end;
  };
  const readItem = (from: number): number => {
    if (bytes[from] !== openBrace) return noJsonValue;
    skim = {};
    [met, isTailKnown] = [0, false];
    const end = skipObject(bytes, from, readMember);
    // A tail that holds one of them again is none.
    if (end !== noJsonValue && met === wanted && !isTailKnown) tails.remember(bytes, wanted === 0 ? end : metEnd, end);
    spans.push(from, end);
    skims.push(skim);
    return end;
  };
  const start = skipBlanks(bytes, 0);
  if (bytes[start] !== openBrace) return undefined;
  const end = skipObject(bytes, start, (from, name, nameEnd) => {
    if (!isList(name, nameEnd)) return skipValue(bytes, from);
    if (listStart !== noJsonValue || bytes[from] !== openBracket) return noJsonValue;
    listStart = from;
    listEnd = skipArray(bytes, from, readItem);
    // What follows is read by whoever wants it.
    isOver = listEnd !== noJsonValue && isLast(listEnd);
    return isOver ? noJsonValue : listEnd;
  });
  if (!isOver && (end === noJsonValue || skipBlanks(bytes, end) !== bytes.length)) return undefined;
  if (listStart === noJsonValue) return { spans, partialItems: skims, rest: bytes.toString('utf8') };
  const rest = `${bytes.toString('utf8', 0, listStart)}[]${bytes.toString('utf8', listEnd)}`;
  return { spans, partialItems: skims, rest };
}

function skipCachedValue(familiar: ByteSpanCache, bytes: Buffer, from: number): number {
  const known = familiar.matchEnd(bytes, from);
  if (known !== noJsonValue) return known;
  const end = skipValue(bytes, from, 2);
  if (end !== noJsonValue) familiar.remember(bytes, from, end);
  return end;
}

/** The JSON text between two places was found to be one. */
function valueAt(bytes: Buffer, from: number, end: number, isEscaped: boolean): unknown {
  if (bytes[from] === quote && !isEscaped) return bytes.toString('utf8', from + 1, end - 1);
  const whole = end - from <= longestNumber ? digitsAt(bytes, from, end) : noJsonValue;
  if (whole !== noJsonValue) return whole;
  const json = parseExactJson(bytes.toString('utf8', from, end));
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

/** Which of these names stands between two places. */
function namesAt(names: readonly string[]): NameAt {
  const quoted = names.map((name) => ({ name, text: Buffer.from(JSON.stringify(name)) }));
  /** Most names are told apart by how long they are. */
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

/** Byte by byte, which is quicker for so few than to ask the system. */
function standsAt(bytes: Buffer, name: Buffer, from: number, end: number): boolean {
  if (name.length !== end - from) return false;
  for (let at = 1; at < name.length; at++) if (bytes[from + at] !== name[at]) return false;
  return true;
}

/** Digits of a number that has room in a double with certainty. */
const longestNumber = 15;
const [quote, zero, backslash] = [0x22, 0x30, 0x5c];
const [openBracket, openBrace] = [0x5b, 0x7b];
