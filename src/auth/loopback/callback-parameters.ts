/** The parameters of an authorization response by name, without repeated names. */
export type CallbackParameters = ReadonlyMap<string, string>;

/** The place of the parameters in the URL: after `?` or after `#`. */
export type CallbackParameterLocation = 'query' | 'fragment';

/** Decodes a raw query or fragment; returns undefined when a parameter is repeated, which RFC 6749 §3.1 forbids. */
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
