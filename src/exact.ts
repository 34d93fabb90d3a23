/**
 * A number of a JSON text that a double would change: digits beyond 2^53, `1.0`, `1e400`. It leaves as it came
 * (https://www.rfc-editor.org/rfc/rfc8259#section-6 lets a number be as long as it likes).
 */
export interface ExactNumber {
  readonly [digits]: string;
  /** Never what is printed: `exactJson` writes the digits. */
  toJSON(): string;
  toString(): string;
}

const digits: unique symbol = Symbol('written');

export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === 'object' && value !== null && digits in value;
}

/** What JSON.parse makes of a text, which throws what it throws; but numbers that would not leave as they came are kept as they are. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayLosePrecision.test(text) ? parseKeepingNumbers(text) : value;
}

/** What JSON.stringify makes of a value, with such numbers as they came. */
export function stringifyExact(value: unknown, indent?: number): string | undefined {
  const text: string | undefined = JSON.stringify(value, null, indent);
  return text?.includes(quotedPlaceholder) === true
    ? stringifyKeepingNumbers(value, ' '.repeat(indent ?? 0), '\n')
    : text;
}

/** A noncharacter: it is seldom met in a text, and where it is, that costs time and nothing else. */
const placeholder = '\uFDD0';
const quotedPlaceholder = `"${placeholder}"`;

function createExactNumber(text: string): ExactNumber {
  return { [digits]: text, toJSON: () => placeholder, toString: () => text };
}

/**
 * Where a value may begin, a number that may not be what a double is written as: with 16 digits or more, an exponent, a last
 * digit 0 behind the point, six of them before any other, or less than none. In strings it is found in vain.
 */
const mayLosePrecision =
  /(?:^|[[:,])\s*-?(?:\d{16}|[\d.]{17}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)|0\.000000|(?<=-)0(?![.\d]))/;

const jsonToken = /[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[-\dtfn][-+.\w]*/gs;

interface OpenContainer {
  readonly end: string;
  readonly values: unknown[];
}

/** The same text once more; that it is JSON is known. It may be as deep as JSON.parse lets it. */
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

/** Of names and values in turn; of two of a name the last one counts, and `__proto__` is a name like any other. */
function objectFromParts(parts: readonly unknown[]): unknown {
  const entries: [string, unknown][] = [];
  for (let at = 0; at < parts.length; at += 2) entries.push([String(parts[at]), parts[at + 1]]);
  return Object.fromEntries(entries);
}

function parseScalar(piece: string): unknown {
  const value: unknown = JSON.parse(piece);
  return typeof value === 'number' && (Object.is(value, -0) || String(value) !== piece)
    ? createExactNumber(piece)
    : value;
}

function stringifyKeepingNumbers(value: unknown, indent: string, line: string): string {
  if (isExactNumber(value)) return value.toString();
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
