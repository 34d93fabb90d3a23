/** The parameters of an authorization response by name; each name comes once. */
export type CallbackParameters = ReadonlyMap<string, string>;

/** Where the parameters stood: behind `?` or behind `#`. */
export type ParameterLocation = 'query' | 'fragment';

/** Decodes a raw query or fragment; undefined when a parameter is repeated (RFC 6749 §3.1: never more than once). */
export function parseCallbackParameters(raw: string): CallbackParameters | undefined {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(raw)) {
    if (parameters.has(name)) {
      return undefined;
    }
    parameters.set(name, value);
  }
  return parameters;
}
