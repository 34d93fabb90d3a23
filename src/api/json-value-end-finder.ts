/** The result of a scan at a position where no JSON value starts. */
export const noJsonValue = -1;

/** Reads the JSON value at `from`; returns its end, or `noJsonValue`. */
export type JsonValueEndFinder = (from: number) => number;
/** Reads the value of a member of a JSON object. `key` and `keyEnd` are the positions of the member name with its quotes. */
export type JsonMemberVisitor = (from: number, key: number, keyEnd: number) => number;

/**
 * The end of the JSON value that starts at `from`, or `noJsonValue` (https://datatracker.ietf.org/doc/html/rfc8259). A line
 * break outside of strings, or a value nested deeper than `maxDepth`, makes the result `noJsonValue`.
 */
export function skipJsonValue(bytes: Uint8Array, from: number, depth = 0): number {
  switch (bytes[from]) {
    case quote:
      return skipString(bytes, from);
    case openBrace:
      return skipJsonObject(bytes, from, undefined, depth);
    case openBracket:
      return skipJsonArray(bytes, from, undefined, depth);
    case letterT:
      return skipWord(bytes, from, 'true');
    case letterF:
      return skipWord(bytes, from, 'false');
    case letterN:
      return skipWord(bytes, from, 'null');
    default:
      return skipNumber(bytes, from);
  }
}

export function skipJsonObject(bytes: Uint8Array, from: number, read?: JsonMemberVisitor, depth = 0): number {
  if (depth > maxDepth) return noJsonValue;
  let at = skipJsonWhitespace(bytes, from + 1);
  if (bytes[at] === closeBrace) return at + 1;
  for (;;) {
    if (bytes[at] !== quote) return noJsonValue;
    const keyEnd = skipString(bytes, at);
    if (keyEnd === noJsonValue) return noJsonValue;
    const middle = skipJsonWhitespace(bytes, keyEnd);
    if (bytes[middle] !== colon) return noJsonValue;
    const value = skipJsonWhitespace(bytes, middle + 1);
    const end = read === undefined ? skipJsonValue(bytes, value, depth + 1) : read(value, at, keyEnd);
    if (end === noJsonValue) return noJsonValue;
    at = skipJsonWhitespace(bytes, end);
    if (bytes[at] === closeBrace) return at + 1;
    if (bytes[at] !== comma) return noJsonValue;
    at = skipJsonWhitespace(bytes, at + 1);
  }
}

export function skipJsonArray(bytes: Uint8Array, from: number, read?: JsonValueEndFinder, depth = 0): number {
  if (depth > maxDepth) return noJsonValue;
  let at = skipJsonWhitespace(bytes, from + 1);
  if (bytes[at] === closeBracket) return at + 1;
  for (;;) {
    const end = read === undefined ? skipJsonValue(bytes, at, depth + 1) : read(at);
    if (end === noJsonValue) return noJsonValue;
    at = skipJsonWhitespace(bytes, end);
    if (bytes[at] === closeBracket) return at + 1;
    if (bytes[at] !== comma) return noJsonValue;
    at = skipJsonWhitespace(bytes, at + 1);
  }
}

export function skipJsonWhitespace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte === space || byte === tab; byte = bytes[at]) at++;
  return at;
}

function skipString(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    // Most bytes inside a JSON string need no check.
    while (isPlain[bytes[at] ?? 0] === 1) at++;
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte !== backslash) return noJsonValue;
    at += 1;
    const escaped = bytes[at] ?? 0;
    if (escaped === letterU) {
      for (const end = at + 4; at < end; at++) if (!isHex(bytes[at + 1] ?? 0)) return noJsonValue;
    } else if (!escapes.includes(escaped)) return noJsonValue;
  }
  return noJsonValue;
}

function skipNumber(bytes: Uint8Array, from: number): number {
  const whole = bytes[from] === minus ? from + 1 : from;
  let at = bytes[whole] === zero ? whole + 1 : skipDigits(bytes, whole);
  if (at !== noJsonValue && bytes[at] === point) at = skipDigits(bytes, at + 1);
  if (at === noJsonValue || (bytes[at] !== letterE && bytes[at] !== capitalE)) return at;
  const isSigned = bytes[at + 1] === minus || bytes[at + 1] === plus;
  return skipDigits(bytes, isSigned ? at + 2 : at + 1);
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at] ?? 0)) at++;
  return at === from ? noJsonValue : at;
}

function skipWord(bytes: Uint8Array, from: number, word: string): number {
  for (let at = 0; at < word.length; at++) if (bytes[from + at] !== word.charCodeAt(at)) return noJsonValue;
  return from + word.length;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= zero + 9;
}

function isHex(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}

/** The maximum nesting depth that this scanner reads. JSON with deeper nesting is parsed by JSON.parse. */
const maxDepth = 200;
const tab = 0x09;
const space = 0x20;
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const plus = 0x2b;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const letterE = 0x65;
const capitalE = 0x45;
const letterF = 0x66;
const letterN = 0x6e;
const letterT = 0x74;
const letterU = 0x75;
/** Characters that may follow a backslash in a JSON string, apart from `u`. */
const escapes = Buffer.from('"\\/bfnrt');
/** The table has 1 for bytes that need no check inside a string, that is, for all but quotes, backslashes and control characters. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= space && byte !== quote && byte !== backslash),
);
