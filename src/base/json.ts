import { isLossless, type LosslessNumber, parseExact } from './exact.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  /** `reason` completes the sentence "the text …", for example "is not JSON". */
  | { readonly ok: false; readonly reason: string; readonly isTooDeep: boolean };

/**
 * The maximum nesting depth of lists and objects in JSON from outside. JSON that is nested more deeply can be parsed, but
 * printing or querying it needs one recursive call for each level. A JSON parser may limit the nesting depth (RFC 8259 §9).
 */
export const maxJsonDepth = 500;

/** Parses JSON from outside the program. The parsed value has type `unknown` until a decoder has checked it. */
export function tryParseJson(text: string): ParsedJson {
  return parseWith((json) => JSON.parse(json), text);
}

/** Parses JSON that is printed again: numbers that a double cannot represent keep their digits. */
export function tryParseExactJson(text: string): ParsedJson {
  return parseWith(parseExact, text);
}

function parseWith(parse: (json: string) => unknown, text: string): ParsedJson {
  if (isNestedDeeper(text, maxJsonDepth))
    return { ok: false, reason: `is nested more than ${maxJsonDepth} levels deep`, isTooDeep: true };
  try {
    // A JSON parser may ignore a byte order mark (RFC 8259 §8.1).
    return { ok: true, value: parse(text.startsWith('\uFEFF') ? text.slice(1) : text) };
  } catch {
    // The message of the JavaScript engine quotes the text, which may contain a secret, so the message is dropped.
    return { ok: false, reason: 'is not JSON', isTooDeep: false };
  }
}

/** Determines the nesting depth by counting the brackets outside strings. */
function isNestedDeeper(text: string, most: number): boolean {
  // Each level needs a bracket. Most texts have few, and a search for them takes a fraction of the time of the loop below.
  if (countBrackets(text, most + 1) <= most) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (isInString) {
      if (character === backslash) at += 1;
      else if (character === quote) isInString = false;
    } else if (character === quote) isInString = true;
    else if (character === openBracket || character === openBrace) {
      depth += 1;
      if (depth > most) return true;
    } else if (character === closeBracket || character === closeBrace) depth -= 1;
  }
  return false;
}

/** The number of opening brackets, at most `enough`. */
function countBrackets(text: string, enough: number): number {
  let count = 0;
  for (const bracket of '[{')
    for (let at = text.indexOf(bracket); at !== -1 && count < enough; at = text.indexOf(bracket, at + 1)) count += 1;
  return count;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLossless(value);
}

export function readStringField(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' ? value : undefined;
}

/** The strings of a list; an empty list for any other value. */
export function readStringList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

/** Reads a number field for computing; `readExactField` reads one for printing. */
export function readNumberField(record: JsonRecord, key: string): number | undefined {
  const held = record[key];
  const value = isLossless(held) ? Number(held) : held;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/**
 * Reads the id of a resource as a string of digits, because a double would change an id of 2^53 and more. The API writes ids as
 * numbers; a string of digits is the same id.
 */
export function readId(value: unknown): string | undefined {
  const isText = typeof value === 'string' || typeof value === 'number' || isLossless(value);
  const text = isText ? String(value) : '';
  return isId(text) ? text : undefined;
}

/** Whether a text is an id as the API writes it. Digits in another form, such as 007, are a name. */
export function isId(text: string): boolean {
  return /^[1-9]\d*$/.test(text);
}

export function readExactField(record: JsonRecord, key: string): number | LosslessNumber | undefined {
  const value = record[key];
  return isLossless(value) ? value : readNumberField(record, key);
}

/**
 * Parses JSON text that names a program and its arguments, such as `["pass","show","db1"]`; undefined unless it is a non-empty
 * array of strings without NUL bytes whose first string, the program, is not empty.
 */
export function parseProgram(text: string): readonly string[] | undefined {
  const json = tryParseJson(text);
  const words: readonly unknown[] = json.ok && Array.isArray(json.value) ? json.value : [];
  const isText = (word: unknown): word is string => typeof word === 'string' && !word.includes('\0');
  return words.length > 0 && words.every(isText) && words[0] !== '' ? words : undefined;
}
