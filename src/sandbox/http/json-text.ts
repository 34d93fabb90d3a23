/** A member that stood more than once in the outermost object. */
export interface DuplicateKey {
  readonly name: string;
  /** Whether every occurrence had the same value. */
  readonly equal: boolean;
}

/** JSON text as a value, with the repeated keys that JSON.parse passes over; undefined when it is not JSON. */
export function parseJsonText(
  text: string,
): { readonly value: unknown; readonly repeated: readonly DuplicateKey[] } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return { value, repeated: repeatedKeys(text) };
}

function repeatedKeys(text: string): readonly DuplicateKey[] {
  const seen = new Map<string, string[]>();
  for (const { name, value } of members(text)) {
    const values = seen.get(name);
    if (values === undefined) seen.set(name, [value]);
    else values.push(value);
  }
  return [...seen]
    .filter(([, values]) => values.length > 1)
    .map(([name, values]) => ({ name, equal: new Set(values).size === 1 }));
}

/** The members of the outermost object of a text that is known to be JSON, values in canonical text. */
function members(text: string): readonly { readonly name: string; readonly value: string }[] {
  const found: { readonly name: string; readonly value: string }[] = [];
  if (!text.trimStart().startsWith('{')) return found;
  let depth = 0;
  let name: string | undefined;
  let start = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (depth === 1 && name !== undefined && (token === ',' || token === '}')) {
      found.push({ name, value: JSON.stringify(JSON.parse(text.slice(start, index))) });
      name = undefined;
    }
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && name === undefined && token.startsWith('"')) {
      name = String(JSON.parse(token));
      start = text.indexOf(':', index + token.length) + 1;
    }
  }
  return found;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/g;
