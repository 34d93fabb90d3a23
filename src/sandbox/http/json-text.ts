/** A member name that occurs several times in the outermost JSON object. */
export interface DuplicateJsonKey {
  readonly name: string;
  /** Whether all repetitions of the member have the same value. */
  readonly equal: boolean;
}

/**
 * Parses JSON and finds repeated member names of the outermost object, which JSON.parse ignores; undefined when the text is not
 * JSON or is nested too deeply for a request.
 */
export function parseJsonWithDuplicateKeys(
  text: string,
): { readonly value: unknown; readonly repeated: readonly DuplicateJsonKey[] } | undefined {
  if (isTooDeep(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return { value, repeated: repeatedKeys(text) };
}

export function isJsonObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function repeatedKeys(text: string): readonly DuplicateJsonKey[] {
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

/** Returns the members of the outermost object of valid JSON, with each value as canonical JSON. */
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

/**
 * The maximum nesting depth of lists and objects. Serializing a value needs one recursive call for each level, and RFC 8259 §9
 * allows a limit.
 */
const MAX_DEPTH = 500;

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/g;
