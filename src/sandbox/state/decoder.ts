/**
 * Decodes parsed JSON into one type; throws a DecodeError that names the path of the first member that does not have the
 * expected form. Invariant: a decoder of some values of a type is none of the type, so that a new value cannot be forgotten.
 */
export type JsonDecoder<in out T> = (value: unknown, path: string) => T;

/**
 * The message names the path of the member and the expected form. The message of a DecodeError never contains the value, which
 * may be a secret.
 */
export class JsonDecodeError extends Error {
  override readonly name = 'DecodeError';
}

export const decodeString: JsonDecoder<string> = (value, path) => {
  return typeof value === 'string' ? value : fail(path, value === undefined ? 'is missing' : 'is not a string');
};

/** @param problemOf completes the sentence "<path> …"; undefined for a valid text */
export function decodeTextThat(problemOf: (text: string) => string | undefined): JsonDecoder<string> {
  return (value, path) => {
    const text = decodeString(value, path);
    const problem = problemOf(text);
    return problem === undefined ? text : fail(path, problem);
  };
}

export const decodeInteger: JsonDecoder<number> = (value, path) => {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : fail(path, 'is not an integer');
};

/** Milliseconds since 1970 of a time whose year has four digits. */
export const decodeTime: JsonDecoder<number> = (value, path) => {
  const time = decodeInteger(value, path);
  return time >= Date.parse('0000-01-01') && time < Date.UTC(10_000, 0)
    ? time
    : fail(path, 'is not a time before the year 10000');
};

export const decodeBoolean: JsonDecoder<boolean> = (value, path) => {
  return typeof value === 'boolean' ? value : fail(path, 'is not a boolean');
};

/** Accepts an object without checking its members. */
export const decodeAnyObject: JsonDecoder<object> = (value, path) => {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : fail(path, 'is not an object');
};

export function enumOf<T extends string | number>(...values: readonly T[]): JsonDecoder<T> {
  return (value, path) => {
    const found = values.find((one) => one === value);
    return found ?? fail(path, `is not one of ${values.map((one) => JSON.stringify(one)).join(', ')}`);
  };
}

export function nullable<T>(decode: JsonDecoder<T>): JsonDecoder<T | null> {
  return (value, path) => (value === null ? null : decode(value, path));
}

export function optional<T>(decode: JsonDecoder<T>): JsonDecoder<T | undefined> {
  return (value, path) => (value === undefined ? undefined : decode(value, path));
}

export function arrayOf<T>(decode: JsonDecoder<T>): JsonDecoder<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) return fail(path, 'is not an array');
    return value.map((one: unknown, at) => decode(one, `${path}[${at}]`));
  };
}

type MemberDecoders<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? JsonDecoder<T[K] | undefined>
    : JsonDecoder<T[K]>;
};

/**
 * Accepts an object with exactly these members: an unknown member may come from a later version and would be lost when the
 * state is written.
 */
export function objectOf<T extends object>(members: MemberDecoders<T>): JsonDecoder<T> {
  const decoders: readonly (readonly [string, JsonDecoder<unknown>])[] = Object.entries(members);
  // The state of a sandbox has a hundred thousand objects, so this loop makes no other object than the result.
  return (value, path) => {
    const given: Readonly<Record<string, unknown>> = { ...decodeAnyObject(value, path) };
    for (const name in given)
      if (!Object.hasOwn(members, name))
        return fail(path, `has the unknown member ${JSON.stringify(name.slice(0, 40))}`);
    const read: Record<string, unknown> = {};
    for (const [name, decode] of decoders) {
      const member = decode(given[name], path === '' ? name : `${path}.${name}`);
      if (member !== undefined) read[name] = member;
    }
    // The type assertion is safe, because the loop has checked each member with its decoder.
    return read as T;
  };
}

function fail(path: string, problem: string): never {
  throw new JsonDecodeError(`${path === '' ? 'the value' : path} ${problem}`);
}
