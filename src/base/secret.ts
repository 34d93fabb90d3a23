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

  get length(): number {
    return this.#value.length;
  }

  /** Whether both have the same value. The time depends on how many characters are equal, so this is not for received values. */
  equals(other: Secret | undefined): boolean {
    return this.#value === other?.reveal();
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
export function secretUrl(url: URL): Secret {
  return new Secret(url.href, `${url.origin}${url.pathname}`);
}

/**
 * Has a secret removed from everything that this run prints or writes into reports, for secrets that a server was sent or has
 * sent, because it may repeat them anywhere. Returns the secret.
 */
export function withhold<Value extends Secret | undefined>(secret: Value): Value {
  // By value, because a run decodes its session more than once.
  if (secret !== undefined && withheld?.some((one) => one.equals(secret)) === false) withheld = [...withheld, secret];
  return secret;
}

/** Begins to keep the secrets given to `withhold`: for a run of the program. A process that uses the library may live for years. */
export function startWithholding(): void {
  withheld = [];
}

let withheld: readonly Secret[] | undefined;
const none: readonly Secret[] = [];

/** The secrets that the run withholds; another list after each new one. */
export function withheldSecrets(): readonly Secret[] {
  return withheld ?? none;
}
