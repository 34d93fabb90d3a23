const inspectSymbol = Symbol.for('nodejs.util.inspect.custom');

/**
 * A secret value that is never printed: string conversion, JSON and `util.inspect` return `display` instead of the value.
 * `reveal()` may be called only where the secret leaves the process (a test lists the files that call it).
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

/** A URL whose query contains secrets (docs/service.md S5.2). A SecretUrl is printed as origin and path, without the query. */
export function wrapUrlAsSecret(url: URL): Secret {
  return new Secret(url.href, `${url.origin}${url.pathname}`);
}

/** Removes secrets, in every usual encoding, from text of a server that may repeat the request that contained them. */
export function redactSecrets(text: string, secrets: readonly Secret[]): string {
  return secrets.reduce(
    (left, secret) => encodingsOf(secret).reduce((rest, spelling) => rest.replaceAll(spelling, secret.display), left),
    text,
  );
}

/** The encodings of a secret are cached, because one token is sent with thousands of requests and searched in every response. */
const encodingCache = new WeakMap<Secret, readonly string[]>();

function encodingsOf(secret: Secret): readonly string[] {
  const spellings = encodingCache.get(secret) ?? encodeAllWays(secret.reveal());
  encodingCache.set(secret, spellings);
  return spellings;
}

function encodeAllWays(value: string): readonly string[] {
  // A value of fewer characters is not redacted, because it occurs in any text by chance.
  if (value.length < 8) return [];
  const bytes = Buffer.from(value);
  const json = jsonText(value);
  return [
    value,
    encodeURIComponent(value),
    new URLSearchParams({ '': value }).toString().slice(1),
    json,
    // A server may repeat the JSON body of a request inside a string of its own JSON.
    jsonText(json),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

/** A text as it is written between the quotes of a JSON string. */
function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
