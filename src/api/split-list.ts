import { createFamiliar, type Familiar } from './familiar.ts';
import { none, type ReadMember, skipArray, skipBlanks, skipObject, skipValue } from './json-scan.ts';

/** The text of a JSON object, with the objects of one of its lists found in it. */
export interface SplitList {
  /** Where each of them begins and ends: two numbers for each. */
  readonly spans: readonly number[];
  /** The JSON text of an array of them with only the members that were asked for, as often as they stand there. */
  readonly skimmed: string;
  /** The text with an empty list in place of this one. */
  readonly rest: string;
}

export type Splitter = (bytes: Buffer) => SplitList | undefined;

/**
 * Takes the list under `key` apart without making values of it, which is most of what reading it costs: its objects can be
 * printed as they came, and numbers beyond 2^53 stay what they are.
 * undefined: it is no JSON, stands on several lines, holds more than objects, or there are two such lists, of which
 * JSON.parse would take the last.
 */
export function createSplitter(key: string, members: readonly string[]): Splitter {
  const familiar: Familiar[] = [];
  const tails = createFamiliar();
  const [isKey, isMember] = [nameTest([key]), nameTest(members)];
  return (bytes) => {
    const isEscaped = bytes.includes(backslash);
    return splitList(bytes, {
      isList: (from, end) => isKey(bytes, from, end, isEscaped),
      isWanted: (from, end) => isMember(bytes, from, end, isEscaped),
      wanted: members.length,
      familiarAt: (length) => (familiar[length] ??= createFamiliar()),
      tails,
    });
  };
}

interface Splitting {
  /** Whether the name between two places is that of the list. */
  readonly isList: (from: number, end: number) => boolean;
  /** Whether it is a member that was asked for. */
  readonly isWanted: (from: number, end: number) => boolean;
  /** How many members were asked for. */
  readonly wanted: number;
  readonly familiarAt: (nameLength: number) => Familiar;
  /** What follows the last of the members that were asked for, to the end of an object. */
  readonly tails: Familiar;
}

function splitList(bytes: Buffer, { isList, isWanted, wanted, familiarAt, tails }: Splitting): SplitList | undefined {
  const spans: number[] = [];
  const kept: number[] = [];
  const ends: number[] = [];
  const list: number[] = [];
  let isTailKnown = false;

  const readMember: ReadMember = (from, name, nameEnd) => {
    const end =
      bytes[from] === openBrace ? skipFamiliar(familiarAt(nameEnd - name), bytes, from) : skipValue(bytes, from, 2);
    if (!isWanted(name, nameEnd)) return end;
    kept.push(name, end);
    if (end === none || !isComplete()) return end;
    const tailEnd = tails.endOf(bytes, end);
    isTailKnown = tailEnd !== none;
    // The brace that ends the object is left to whoever reads it.
    return isTailKnown ? tailEnd - 1 : end;
  };
  const isComplete = (): boolean => kept.length - (ends.at(-1) ?? 0) === 2 * wanted;
  const readItem = (from: number): number => {
    if (bytes[from] !== openBrace) return none;
    isTailKnown = false;
    const end = skipObject(bytes, from, readMember);
    // A tail that holds one of them again is none.
    if (end !== none && isComplete() && !isTailKnown) tails.learn(bytes, kept.at(-1) ?? end, end);
    spans.push(from, end);
    ends.push(kept.length);
    return end;
  };
  const start = skipBlanks(bytes, 0);
  if (bytes[start] !== openBrace) return undefined;
  const end = skipObject(bytes, start, (from, name, nameEnd) => {
    if (!isList(name, nameEnd)) return skipValue(bytes, from);
    if (list.length > 0 || bytes[from] !== openBracket) return none;
    const listEnd = skipArray(bytes, from, readItem);
    list.push(from, listEnd);
    return listEnd;
  });
  if (end === none || skipBlanks(bytes, end) !== bytes.length) return undefined;
  const [listStart = 0, listEnd = 0] = list;
  const before = bytes.toString('utf8', 0, listStart);
  const rest = list.length === 0 ? bytes.toString('utf8') : `${before}[]${bytes.toString('utf8', listEnd)}`;
  return { spans, skimmed: skimmedOf(bytes, kept, ends), rest };
}

function skipFamiliar(familiar: Familiar, bytes: Buffer, from: number): number {
  const known = familiar.endOf(bytes, from);
  if (known !== none) return known;
  const end = skipValue(bytes, from, 2);
  if (end !== none) familiar.learn(bytes, from, end);
  return end;
}

type NameTest = (bytes: Buffer, from: number, end: number, isEscaped: boolean) => boolean;

/** Whether the name between two places is one of these. */
function nameTest(names: readonly string[]): NameTest {
  const quoted = names.map((name) => Buffer.from(JSON.stringify(name)));
  /** Most names are told apart by how long they are. */
  const isLength: boolean[] = [];
  for (const { length } of quoted) isLength[length] = true;
  return (bytes, from, end, isEscaped) => {
    if (isEscaped && bytes.subarray(from, end).includes(backslash))
      return names.includes(JSON.parse(bytes.toString('utf8', from, end)));
    if (isLength[end - from] !== true) return false;
    for (const name of quoted) if (standsAt(bytes, name, from, end)) return true;
    return false;
  };
}

/** Byte by byte, which is quicker for so few than to ask the system. */
function standsAt(bytes: Buffer, name: Buffer, from: number, end: number): boolean {
  if (name.length !== end - from) return false;
  for (let at = 1; at < name.length; at++) if (bytes[from + at] !== name[at]) return false;
  return true;
}

function skimmedOf(bytes: Buffer, kept: readonly number[], ends: readonly number[]): string {
  let size = 2 + 3 * ends.length + kept.length;
  for (let at = 0; at < kept.length; at += 2) size += (kept[at + 1] ?? 0) - (kept[at] ?? 0);
  const skim = Buffer.allocUnsafe(size);
  let to = 0;
  skim[to++] = openBracket;
  let at = 0;
  for (const end of ends) {
    if (to > 1) skim[to++] = comma;
    skim[to++] = openBrace;
    for (const first = at; at < end; at += 2) {
      if (at > first) skim[to++] = comma;
      for (let from = kept[at] ?? 0; from < (kept[at + 1] ?? 0); from++) skim[to++] = bytes[from] ?? 0;
    }
    skim[to++] = closeBrace;
  }
  skim[to++] = closeBracket;
  return skim.toString('utf8', 0, to);
}

const [backslash, comma] = [0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
