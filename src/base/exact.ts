/**
 * A number in a JSON text that a double would change: more digits than 2^53, `1.0` or `1e400`. It is printed as it was received
 * (https://www.rfc-editor.org/rfc/rfc8259#section-6 does not limit the digits of a number).
 */
export class LosslessNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  /** A placeholder that `stringifyExact` replaces with the digits. */
  toJSON(): string {
    return placeholder;
  }

  toString(): string {
    return this.digits;
  }
}

/** A number with all its digits. */
export type ExactNumber = number | LosslessNumber;

export function isLossless(value: unknown): value is LosslessNumber {
  return value instanceof LosslessNumber;
}

/** JSON.parse, but numbers that a double would change become LosslessNumber. Throws the same errors as JSON.parse. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayLosePrecision.test(text) ? parseKeepingNumbers(text) : value;
}

/** JSON.stringify, but each LosslessNumber is written with its original digits. */
export function stringifyExact(value: unknown, indent?: number): string | undefined {
  const text: string | undefined = JSON.stringify(value, null, indent);
  return text?.includes(quotedPlaceholder) === true
    ? stringifyKeepingNumbers(value, ' '.repeat(indent ?? 0), '\n')
    : text;
}

/** The whole number that is written with these digits. */
export function exactNumber(digits: string): ExactNumber {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : new LosslessNumber(String(BigInt(digits)));
}

/**
 * The placeholder is a Unicode noncharacter, which texts rarely contain. A text that contains this noncharacter is still
 * written correctly, but more slowly.
 */
const placeholder = '\uFDD0';
const quotedPlaceholder = `"${placeholder}"`;

/**
 * Finds a number that JSON.stringify may write differently: 16 or more digits, an exponent, a trailing zero after the decimal
 * point, six zeros after it, or -0. A match inside a JSON string changes nothing in the result; it only costs time.
 */
const mayLosePrecision =
  /(?:^|[[:,])\s*-?(?:\d{16}|[\d.]{17}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)|0\.000000|(?<=-)0(?![.\d]))/;

const jsonToken = /[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[-\dtfn][-+.\w]*/gs;

interface OpenContainer {
  readonly end: string;
  readonly values: unknown[];
}

/** Parses a text that is known to be valid JSON. The parser uses no recursion, so it accepts the same nesting depth as JSON.parse. */
function parseKeepingNumbers(text: string): unknown {
  const open: OpenContainer[] = [];
  let values: unknown[] = [];
  const whole = values;
  for (const [piece] of text.matchAll(jsonToken)) {
    if (piece === '{' || piece === '[') {
      open.push({ end: piece, values });
      values = [];
    } else if (piece === '}' || piece === ']') {
      const outer = open.pop();
      const inner = values;
      values = outer?.values ?? whole;
      values.push(outer?.end === '{' ? objectFromParts(inner) : inner);
    } else values.push(parseScalar(piece));
  }
  return whole[0];
}

/**
 * Builds the object of a JSON text from alternating names and values. Of equal names the last one is used, and `__proto__` is
 * treated as an ordinary name.
 */
function objectFromParts(parts: readonly unknown[]): unknown {
  const entries: [string, unknown][] = [];
  for (let at = 0; at < parts.length; at += 2) entries.push([String(parts[at]), parts[at + 1]]);
  return Object.fromEntries(entries);
}

function parseScalar(piece: string): unknown {
  const value: unknown = JSON.parse(piece);
  return typeof value === 'number' && (Object.is(value, -0) || String(value) !== piece)
    ? new LosslessNumber(piece)
    : value;
}

function stringifyKeepingNumbers(value: unknown, indent: string, line: string): string {
  if (isLossless(value)) return value.toString();
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value) ?? 'null';
  const inner = `${line}${indent}`;
  const parts: string[] = [];
  if (Array.isArray(value)) for (const one of value) parts.push(stringifyKeepingNumbers(one, indent, inner));
  else {
    const colon = indent === '' ? ':' : ': ';
    for (const [name, one] of Object.entries(value)) {
      if (one !== undefined)
        parts.push(`${JSON.stringify(name)}${colon}${stringifyKeepingNumbers(one, indent, inner)}`);
    }
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0 || indent === '') return `${open}${parts.join(',')}${close}`;
  return `${open}${inner}${parts.join(`,${inner}`)}${line}${close}`;
}
