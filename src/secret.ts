const inspect = Symbol.for('nodejs.util.inspect.custom');

/**
 * A value that does not print: string conversion, JSON and `util.inspect` give `shown` instead.
 * `reveal()` belongs only where the value leaves the process for its rightful place.
 */
export class Secret {
  readonly #value: string;
  readonly shown: string;

  constructor(value: string, shown = '[secret]') {
    this.#value = value;
    this.shown = shown;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return this.shown;
  }

  toJSON(): string {
    return this.shown;
  }

  [inspect](): string {
    return this.shown;
  }
}

/** A URL whose query carries secrets (spec.md §4.2): it prints as origin and path. */
export function secretUrl(url: URL): Secret {
  return new Secret(url.href, `${url.origin}${url.pathname}`);
}

/** Text of a server without the secrets that were sent to it, however it spells them: whoever repeats a request must not make us print it. */
export function withoutSecrets(text: string, secrets: readonly Secret[]): string {
  return secrets.reduce(
    (left, secret) => spellingsOf(secret).reduce((rest, spelling) => rest.replaceAll(spelling, secret.shown), left),
    text,
  );
}

/** Kept, because a token goes with thousands of requests and is looked for in every answer. */
const known = new WeakMap<Secret, readonly string[]>();

function spellingsOf(secret: Secret): readonly string[] {
  const spellings = known.get(secret) ?? spelled(secret.reveal());
  known.set(secret, spellings);
  return spellings;
}

function spelled(value: string): readonly string[] {
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
