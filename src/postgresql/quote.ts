/** A name as PostgreSQL reads it back: always in quotes, so that case, spaces and keywords survive. */
export function quoteIdentifier(name: string): string {
  if (name === '') throw new RangeError('an identifier cannot be empty');
  return `"${withoutNul(name).replaceAll('"', '""')}"`;
}

/** A text constant that means the same whatever standard_conforming_strings says. */
export function quoteLiteral(text: string): string {
  const doubled = withoutNul(text).replaceAll("'", "''");
  return doubled.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** The server cannot store a NUL, and a statement would end at it. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new RangeError('PostgreSQL cannot hold a NUL character');
  return text;
}
