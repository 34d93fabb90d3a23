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
