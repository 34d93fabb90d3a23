/** The parameters of an authorization response by name; each name comes once. */
export type Parameters = ReadonlyMap<string, string>;

/** Where the parameters stood: behind `?` or behind `#`. */
export type Place = 'query' | 'fragment';

/** Decodes a raw query or fragment; undefined when a parameter is repeated (RFC 6749 §3.1: never more than once). */
export function parseParameters(raw: string): Parameters | undefined {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(raw)) {
    if (parameters.has(name)) {
      return undefined;
    }
    parameters.set(name, value);
  }
  return parameters;
}
