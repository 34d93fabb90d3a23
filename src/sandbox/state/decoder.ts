/** Reads one shape out of JSON; throws Unreadable with the place of what does not fit. */
export type Decoder<T> = (value: unknown, place: string) => T;

/** What was found is not what is written there. The value itself, which may be a secret, is not told. */
export class DecodeError extends Error {
  override readonly name = 'UnreadableError';
}

export const asString: Decoder<string> = (value, place) => {
  return typeof value === 'string' ? value : fail(place, 'is no text');
};

export const asInteger: Decoder<number> = (value, place) => {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : fail(place, 'is no whole number');
};

export const asBoolean: Decoder<boolean> = (value, place) => {
  return typeof value === 'boolean' ? value : fail(place, 'is neither true nor false');
};

export function oneOfValues<T extends string | number | null>(...values: readonly T[]): Decoder<T> {
  return (value, place) => {
    const found = values.find((one) => one === value);
    return found === undefined
      ? fail(place, `is none of ${values.map((one) => JSON.stringify(one)).join(', ')}`)
      : found;
  };
}

export function nullable<T>(decode: Decoder<T>): Decoder<T | null> {
  return (value, place) => (value === null ? null : decode(value, place));
}

/** For a member that may be left out. */
export function optionalMember<T>(decode: Decoder<T>): Decoder<T | undefined> {
  return (value, place) => (value === undefined ? undefined : decode(value, place));
}

export function arrayOf<T>(decode: Decoder<T>): Decoder<readonly T[]> {
  return (value, place) => {
    if (!Array.isArray(value)) return fail(place, 'is no list');
    return value.map((one: unknown, at) => decode(one, `${place}[${at}]`));
  };
}

type Fields<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? Decoder<T[K] | undefined> : Decoder<T[K]>;
};

/** An object with these members and no others, so that nothing a later version wrote is dropped unseen. */
export function objectOf<T extends object>(fields: Fields<T>): Decoder<T> {
  const decoders: readonly (readonly [string, Decoder<unknown>])[] = Object.entries(fields);
  return (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail(place, 'is no object');
    const given = new Map<string, unknown>(Object.entries(value));
    const strange = [...given.keys()].find((name) => !Object.hasOwn(fields, name));
    if (strange !== undefined) return fail(place, `has a member ${JSON.stringify(strange.slice(0, 40))}`);
    const read = decoders.flatMap(([name, decode]) => {
      const member = decode(given.get(name), place === '' ? name : `${place}.${name}`);
      return member === undefined ? [] : [[name, member] as const];
    });
    // Every member was read by the decoder of its name just here.
    return Object.fromEntries(read) as T;
  };
}

function fail(place: string, reason: string): never {
  throw new DecodeError(`${place === '' ? 'it' : place} ${reason}`);
}
