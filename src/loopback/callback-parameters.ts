/** The parameters of an authorization response by name; no name is repeated. */
export type CallbackParameters = ReadonlyMap<string, string>;

/** Where the parameters were in the URL: after `?` or after `#`. */
export type ParameterLocation = 'query' | 'fragment';

/** Decodes a raw query or fragment; undefined when a parameter is repeated (forbidden by RFC 6749 §3.1). */
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
