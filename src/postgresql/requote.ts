import { quoteIdentifier } from './quote.ts';

/**
 * A name that the server quoted (`public."Odd ""Name"`), quoted again here: a statement holds no text of the server outside
 * our own quotes. Text that is not such a name becomes one quoted name, which no object has.
 */
export function requoteQualifiedName(text: string): string {
  return (partsOf(text) ?? [text]).map(quoteAnyName).join('.');
}

/** The signature of a function, `public.f(integer, "My type"[])`, with its names quoted here. */
export function requoteSignature(text: string): string {
  const [, name = '', list] = /^((?:[^"(]|"(?:[^"]|"")*"(?!"))*)\((.*)\)$/s.exec(text) ?? [];
  const pieces = list?.match(/(?:[^",]|"(?:[^"]|"")*")+/g) ?? [];
  const types = pieces.map(requoteType);
  const isSignature = pieces.join(',') === list && !types.includes(undefined) && partsOf(name) !== undefined;
  if (!isSignature) return `${quoteAnyName(text)}()`;
  return `${requoteQualifiedName(name)}(${types.join(', ')})`;
}

/** A type as format_type writes it. The names of the standard with spaces are not names of types, so they stay as they are. */
function requoteType(text: string): string | undefined {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (trimmed.endsWith('[]', end)) end -= 2;
  const type = trimmed.slice(0, end);
  const array = trimmed.slice(end);
  if (standardType.test(type)) return `${type}${array}`;
  return partsOf(type) === undefined ? undefined : `${requoteQualifiedName(type)}${array}`;
}

/** format_type writes these names of pg_catalog without a schema, and they are keywords of the grammar. */
const standardType =
  /^(?:bigint|bit|bit varying|boolean|character|character varying|double precision|integer|interval|numeric|real|smallint|time(?:stamp)? with(?:out)? time zone)$/;

/** The parts of a qualified name; undefined: the text is none. */
function partsOf(text: string): readonly string[] | undefined {
  if (!/^(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+")(?:\.(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+"))*$/.test(text)) return undefined;
  return (text.match(/"(?:[^"]|"")+"|[^."]+/g) ?? []).map((part) =>
    part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part,
  );
}

/** A hostile server may send what no name can be. */
function quoteAnyName(name: string): string {
  return quoteIdentifier(name.replaceAll('\0', '\uFFFD') || '?');
}
