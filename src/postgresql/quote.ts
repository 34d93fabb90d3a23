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

/**
 * A DO statement that people can paste: it sets the search_path first, because an operator without a schema is one of a
 * user when `public` has one for exactly these types, or when the owner of the database stored another search_path. The
 * body is a quoted literal, because a name could end a dollar-quoted string.
 */
export function doStatement(body: string, declarations = ''): string {
  return `DO ${quoteLiteral(`${declarations}BEGIN SET LOCAL search_path TO pg_catalog, pg_temp; ${body}; END`)}`;
}

/** A NUL character is refused, because the server cannot store it and a statement would end at it. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new RangeError('PostgreSQL cannot hold a NUL character');
  return text;
}

/**
 * Quotes a name again that the server quoted (`public."Odd ""Name"`), so that a statement contains no text of the
 * server outside quotes of this program. Text that is not a valid name becomes one quoted name, which no object has.
 */
export function requoteName(text: string): string {
  return (partsOf(text) ?? [text]).map(quoteAnyName).join('.');
}

/** Quotes the names in the signature of a function again, for example `public.f(integer, "My type"[])`. */
export function requoteSignature(text: string): string {
  const [, name = '', list] = /^((?:[^"(]|"(?:[^"]|"")*"(?!"))*)\((.*)\)$/s.exec(text) ?? [];
  const pieces = list?.match(/(?:[^",]|"(?:[^"]|"")*")+/g) ?? [];
  const types = pieces.map(requoteType);
  const isSignature = pieces.join(',') === list && !types.includes(undefined) && partsOf(name) !== undefined;
  if (!isSignature) return `${quoteAnyName(text)}()`;
  return `${requoteName(name)}(${types.join(', ')})`;
}

/**
 * Quotes again a type name that format_type returned. Type names of the SQL standard with spaces, such as `double
 * precision`, are not quoted.
 */
function requoteType(text: string): string | undefined {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (trimmed.endsWith('[]', end)) end -= 2;
  const type = trimmed.slice(0, end);
  const array = trimmed.slice(end);
  if (standardType.test(type)) return `${type}${array}`;
  return partsOf(type) === undefined ? undefined : `${requoteName(type)}${array}`;
}

/** Type names that format_type returns without a schema and that are keywords of the SQL grammar. */
const standardType =
  /^(?:bigint|bit|bit varying|boolean|character|character varying|double precision|integer|interval|numeric|real|smallint|time(?:stamp)? with(?:out)? time zone)$/;

/** The parts of a qualified name; undefined if the text is not a qualified name. */
function partsOf(text: string): readonly string[] | undefined {
  if (!/^(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+")(?:\.(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+"))*$/.test(text)) return undefined;
  return (text.match(/"(?:[^"]|"")+"|[^."]+/g) ?? []).map((part) =>
    part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part,
  );
}

/** The text may be no valid name, because the server is not trusted. */
function quoteAnyName(name: string): string {
  return quoteIdentifier(name.replaceAll('\0', '\uFFFD') || '?');
}
