import type { IncomingMessage } from 'node:http';
import { type HttpScheme, splitTarget } from './origin.ts';

/** An HTTP request with its complete body. Path and query are parts of the raw request target. */
export interface HttpRequest {
  readonly method: string;
  /** Not normalized, except for unreserved characters: a path with such a character encoded is the same (RFC 3986 §6.2.2.2). */
  readonly path: string;
  /** The query without the question mark; empty when the target has none. */
  readonly query: string;
  /** Returns all values of a header, given its name in lower case. */
  readonly header: (name: string) => readonly string[];
  readonly body: string;
  /** The Host header, or host and port of a request target in absolute form. */
  readonly authority: string;
  /** The origin of links in the reply: the public origin, else the one that the client used. */
  readonly linkOrigin: string;
  readonly scheme: HttpScheme;
  /** Reads the parameters in the query and in the body of the request. */
  readonly parameters: () => RequestParameters;
  /** The path segments that match the placeholders `{…}` in the path of the route. */
  readonly captures: readonly string[];
  /** A signal that is aborted when the client disconnects. */
  readonly disconnected: () => AbortSignal;
}

export function parseRequest(
  message: IncomingMessage,
  body: Buffer,
  scheme: HttpScheme = 'http',
  publicOrigin?: string,
): HttpRequest {
  const { target, authority = message.headers.host ?? '' } = splitTarget(message);
  const mark = target.indexOf('?');
  const query = mark === -1 ? '' : target.slice(mark + 1);
  const text = body.toString('utf8');
  let parameters: RequestParameters | undefined;
  return {
    method: message.method ?? 'GET',
    path: decodeUnreserved(mark === -1 ? target : target.slice(0, mark)),
    query,
    header: (name) => message.headersDistinct[name] ?? [],
    body: text,
    authority,
    linkOrigin: publicOrigin ?? `${scheme}://${authority}`,
    scheme,
    parameters: () => {
      parameters ??= readParameters(query, text, message.headers['content-type'] ?? '');
      return parameters;
    },
    captures: [],
    disconnected: () => {
      const controller = new AbortController();
      message.socket.once('close', () => controller.abort());
      return controller.signal;
    },
  };
}

function decodeUnreserved(path: string): string {
  return path.replace(/%(?:2[DE]|3\d|[46][1-9A-F]|[57][0-9A]|5F|7E)/gi, (encoded) => decodeURIComponent(encoded));
}

/** The parameters of a request. A parameter without a value counts as absent (RFC 6749 §3.1). */
export interface RequestParameters {
  readonly get: (name: string) => string | undefined;
  readonly isRepeated: (name: string) => boolean;
  /** The reason why the request body cannot be read. */
  readonly problem?: string;
}

/** Reads the parameters of query and body together, so that a parameter in both counts as repeated. */
export function readParameters(query: string, body: string, contentType: string): RequestParameters {
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
export function readRawParameter(query: string, name: string): string | undefined {
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
  const read = parseJson(body);
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

/** The media type of the request body in lower case, without its parameters. */
export function parseMediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** A member name that occurs several times in the outermost JSON object. */
export interface DuplicateKey {
  readonly name: string;
  /** Whether all repetitions of the member have the same value. */
  readonly equal: boolean;
}

/**
 * Parses JSON and finds repeated member names of the outermost object, which JSON.parse ignores; undefined when the text is not
 * JSON or is nested too deeply for a request.
 */
export function parseJson(
  text: string,
): { readonly value: unknown; readonly repeated: readonly DuplicateKey[] } | undefined {
  if (isTooDeep(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return { value, repeated: repeatedKeys(text) };
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function repeatedKeys(text: string): readonly DuplicateKey[] {
  const seen = new Map<string, string[]>();
  for (const { name, value } of members(text)) {
    const values = seen.get(name);
    if (values === undefined) seen.set(name, [value]);
    else values.push(value);
  }
  return [...seen]
    .filter(([, values]) => values.length > 1)
    .map(([name, values]) => ({ name, equal: new Set(values).size === 1 }));
}

/** The name of the first member that an object of valid JSON has twice, at any depth. */
export function findRepeatedMember(text: string): string | undefined {
  /** The names of each open object; undefined for an open list. */
  const open: (Set<string> | undefined)[] = [];
  let names: Set<string> | undefined;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ',') {
      const name: string = names === undefined ? '' : JSON.parse(token);
      if (names?.has(name)) return name;
      names?.add(name);
    }
    // A name stands after the brace of an object and after a comma in it, any other text is a value.
    names = token === '{' || token === ',' ? open.at(-1) : undefined;
  }
  return undefined;
}

/** Returns the members of the outermost object of valid JSON, with each value as canonical JSON. */
function members(text: string): readonly { readonly name: string; readonly value: string }[] {
  const found: { readonly name: string; readonly value: string }[] = [];
  if (!text.trimStart().startsWith('{')) return found;
  let depth = 0;
  let name: string | undefined;
  let start = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (depth === 1 && name !== undefined && (token === ',' || token === '}')) {
      found.push({ name, value: JSON.stringify(JSON.parse(text.slice(start, index))) });
      name = undefined;
    }
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && name === undefined && token.startsWith('"')) {
      name = String(JSON.parse(token));
      start = text.indexOf(':', index + token.length) + 1;
    }
  }
  return found;
}

/**
 * The maximum nesting depth of lists and objects. Serializing a value needs one recursive call for each level, and RFC 8259 §9
 * allows a limit.
 */
const MAX_DEPTH = 500;

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/g;

/**
 * Percent-encodes the characters that a browser would encode in a query, so that the query can be used in a Location header or
 * in the action of a form. The function decodes nothing, so a second call changes nothing. The query contains only ASCII
 * characters, because Node rejects other bytes in request targets, and `localPath` rejects other characters in paths.
 */
export function asciiQuery(query: string): string {
  return query.replace(/["#<>\\^`{|}]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
