/** Quotes an identifier, so that case, spaces and keywords are preserved. */
export function quoteIdentifier(name: string): string {
  if (name === '') throw new RangeError('an identifier cannot be empty');
  return `"${withoutNul(name).replaceAll('"', '""')}"`;
}

/** Quotes a string constant so that it does not depend on standard_conforming_strings. */
export function quoteLiteral(text: string): string {
  const doubled = withoutNul(text).replaceAll("'", "''");
  return doubled.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** A NUL character is refused, because the server cannot store it and a statement would end at it. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new RangeError('PostgreSQL cannot hold a NUL character');
  return text;
}
