const inspectSymbol = Symbol.for('nodejs.util.inspect.custom');

/**
 * A value that does not print: string conversion, JSON and `util.inspect` give `shown` instead.
 * `reveal()` belongs only where the value leaves the process for its rightful place.
 */
export class Secret {
  readonly #value: string;
  readonly display: string;

  constructor(value: string, shown = '[secret]') {
    this.#value = value;
    this.display = shown;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return this.display;
  }

  toJSON(): string {
    return this.display;
  }

  [inspectSymbol](): string {
    return this.display;
  }
}

/** A URL whose query carries secrets (spec.md §4.2): it prints as origin and path. */
export function secretUrl(url: URL): Secret {
  return new Secret(url.href, `${url.origin}${url.pathname}`);
}

/** Text of a server without the secrets that were sent to it, however it spells them: whoever repeats a request must not make us print it. */
export function redactSecrets(text: string, secrets: readonly Secret[]): string {
  return secrets.reduce(
    (left, secret) => encodingsOf(secret).reduce((rest, spelling) => rest.replaceAll(spelling, secret.display), left),
    text,
  );
}

/** Kept, because a token goes with thousands of requests and is looked for in every answer. */
const encodingCache = new WeakMap<Secret, readonly string[]>();

function encodingsOf(secret: Secret): readonly string[] {
  const spellings = encodingCache.get(secret) ?? encodeAllWays(secret.reveal());
  encodingCache.set(secret, spellings);
  return spellings;
}

function encodeAllWays(value: string): readonly string[] {
  // A value this short stands in any text by chance, and tells nothing.
  if (value.length < 8) return [];
  const bytes = Buffer.from(value);
  return [
    value,
    encodeURIComponent(value),
    new URLSearchParams({ '': value }).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}
