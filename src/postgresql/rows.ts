/** A row of the simple query protocol: every value as the server wrote it. */
export type PostgresqlRow = Readonly<Record<string, string | null>>;

/**
 * Decodes the elements of a PostgreSQL array in its text form, of all dimensions
 * (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). Arrays are decoded here, because the JSON functions
 * of the server would call casts that users define.
 */
export function parseArray(text: string): readonly (string | null)[] {
  const elements: (string | null)[] = [];
  // PostgreSQL writes array bounds other than 1 before the array: `[0:2]={a,b,c}`.
  let at = text.indexOf('{');
  if (at < 0) throw new TypeError('the server did not return an array');
  for (; at < text.length; at += 1) {
    if ('{},'.includes(text[at]!)) continue;
    const { value, isQuoted, end } = readElement(text, at, arrayEnd);
    elements.push(!isQuoted && value === 'NULL' ? null : value);
    at = end - 1;
  }
  return elements;
}

/**
 * Decodes the fields of a composite value in its text form
 * (https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX).
 */
export function parseComposite(text: string): readonly (string | null)[] {
  if (!text.startsWith('(') || !text.endsWith(')')) throw new TypeError('the server did not return a composite value');
  const fields: (string | null)[] = [];
  let at = 0;
  while (at < text.length - 1) {
    const { value, isQuoted, end } = readElement(text, at + 1, recordEnd);
    fields.push(!isQuoted && value === '' ? null : value);
    at = end;
  }
  return fields;
}

/**
 * Decodes the finite bounds of a range or of a multirange in its text form: `[1,2)`, `(,"a b"]`, `empty`,
 * `{[1,2),[5,)}` (https://www.postgresql.org/docs/current/rangetypes.html#RANGETYPES-IO).
 */
export function parseRanges(text: string): readonly string[] {
  if (!/^[[({e]/.test(text)) throw new TypeError('the server did not return a range');
  const bounds: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (!'[('.includes(text[at]!)) continue;
    for (const end of [recordEnd, rangeEnd]) {
      const bound = readElement(text, at + 1, end);
      if (bound.isQuoted || bound.value !== '') bounds.push(bound.value);
      at = bound.end;
    }
  }
  return bounds;
}

const rangeEnd = /[)\]]/;
const arrayEnd = /[,{}]/;
const recordEnd = /[,)]/;

interface Item {
  readonly value: string;
  readonly isQuoted: boolean;
  /** Position in the text of the character that ends the array element or the field of the composite value. */
  readonly end: number;
}

/** Inside quotes a backslash escapes the next character; in composite values, two quotes in a row also mean one quote. */
function readElement(text: string, from: number, ends: RegExp): Item {
  let value = '';
  let isQuoted = false;
  let inQuotes = false;
  let at = from;
  for (; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '\\') {
      value += text[at + 1] ?? '';
      at += 1;
    } else if (character === '"') {
      if (inQuotes && text[at + 1] === '"') {
        value += '"';
        at += 1;
      } else {
        inQuotes = !inQuotes;
        isQuoted = true;
      }
    } else if (!inQuotes && ends.test(character)) {
      break;
    } else {
      value += character;
    }
  }
  return { value, isQuoted, end: at };
}

/** Returns an empty text for NULL and for a missing column, because queries for older versions leave some columns out. */
export function decodeText(row: PostgresqlRow | undefined, column: string): string {
  return row?.[column] ?? '';
}

export function decodeOptionalText(row: PostgresqlRow | undefined, column: string): string | undefined {
  return row?.[column] ?? undefined;
}

export function decodeNumber(row: PostgresqlRow | undefined, column: string): number {
  return decodeOptionalNumber(row, column) ?? 0;
}

export function decodeOptionalNumber(row: PostgresqlRow | undefined, column: string): number | undefined {
  const value = row?.[column];
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export function decodeBoolean(row: PostgresqlRow | undefined, column: string): boolean {
  return row?.[column] === 't';
}

/** Decodes an array, and leaves out elements that are NULL. */
export function decodeTextArray(row: PostgresqlRow | undefined, column: string): readonly string[] {
  const value = row?.[column];
  if (value === undefined || value === null) return [];
  return parseArray(value).filter((element) => element !== null);
}
