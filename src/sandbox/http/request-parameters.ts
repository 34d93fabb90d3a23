import { isJsonObject, parseJsonWithDuplicateKeys } from './json-text.ts';
import { parseMediaType } from './media-type.ts';

/** The parameters of a request. A parameter without a value counts as absent (RFC 6749 §3.1). */
export interface RequestParameters {
  readonly get: (name: string) => string | undefined;
  readonly isRepeated: (name: string) => boolean;
  /** The reason why the request body cannot be read. */
  readonly problem?: string;
}

/** Reads the parameters of query and body together, so that a parameter in both counts as repeated. */
export function readRequestParameters(query: string, body: string, contentType: string): RequestParameters {
  const read: BodyPairs = body === '' ? { pairs: [] } : bodyPairs(body, parseMediaType(contentType));
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of [...new URLSearchParams(query), ...read.pairs]) {
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return {
    get: (name) => values.get(name) || undefined,
    isRepeated: (name) => repeated.has(name),
    ...(read.problem === undefined ? {} : { problem: read.problem }),
  };
}

/** Returns the value of a parameter in the encoded form that was sent; undefined when the query does not contain the parameter. */
export function readRawQueryParameter(query: string, name: string): string | undefined {
  for (const pair of query.split('&')) {
    const [rawName = '', ...rawValue] = pair.split('=');
    if (pair !== '' && new URLSearchParams(rawName).keys().next().value === name) return rawValue.join('=');
  }
  return undefined;
}

interface BodyPairs {
  readonly pairs: readonly (readonly [string, string])[];
  readonly problem?: string;
}

function bodyPairs(body: string, type: string): BodyPairs {
  if (type === 'application/x-www-form-urlencoded') return { pairs: [...new URLSearchParams(body)] };
  if (type === 'application/json') return jsonPairs(body);
  return { pairs: [] };
}

function jsonPairs(body: string): BodyPairs {
  const read = parseJsonWithDuplicateKeys(body);
  if (read === undefined) return { pairs: [], problem: 'The request body is not valid JSON.' };
  // HTTP clients with the default content type application/json send `null` or `""` when a request has no body.
  if (read.value === null || read.value === '') return { pairs: [] };
  if (!isJsonObject(read.value)) {
    return { pairs: [], problem: 'The request body is not a JSON object.' };
  }
  const pairs: (readonly [string, string])[] = [];
  for (const [name, value] of Object.entries(read.value)) {
    if (value === null) continue;
    if (typeof value !== 'string') return { pairs: [], problem: `The parameter ${name} is not a string.` };
    pairs.push([name, value]);
  }
  for (const key of read.repeated) pairs.push([key.name, '']);
  return { pairs };
}
