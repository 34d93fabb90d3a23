import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Secret } from '../../src/base/secret.ts';
import { createResponse, type HttpResponse } from './response.ts';
import type { AdminApi } from './sandbox.ts';
import { type Send, SendError } from './send.ts';
import type { Visit } from './visit.ts';

/** Parameters by name; undefined ones are left out, and a list sends a parameter several times. */
export type Params = Readonly<Record<string, string | Secret | readonly (string | Secret)[] | undefined>>;

/** The registered application with which the server is tested. */
export interface Client {
  readonly id: string;
  readonly secret: Secret | undefined;
  readonly callbackUrl: string;
}

/** A user of the sandbox, as its admin API describes it. */
export interface Person {
  readonly email: string;
  readonly password: Secret;
  readonly uuid: string;
  readonly teams: readonly { readonly uuid: string; readonly name: string }[];
}

/** The users, applications and clusters of a sandbox. */
export interface People {
  readonly users: readonly Person[];
  readonly applications: readonly Client[];
  /** The clusters of the first user. */
  readonly clusters: readonly {
    readonly uuid: string;
    readonly name: string;
    readonly engine: string;
    readonly hasServer: boolean;
  }[];
}

export interface ServerOptions {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly client: Client | undefined;
  /** Why no client is used although one was named. */
  readonly noClient?: string | undefined;
  /** An access token that may be used to read, and with `allowWrites` to write; it is never revoked. */
  readonly accessToken: Secret | undefined;
  /** A refresh token that the tests may use up. It must come from another login than the access token. */
  readonly refreshToken: Secret | undefined;
  /** Where the token endpoint reads its parameters. Tests of query parameters always send parameters in the query. */
  readonly tokenParams: 'query' | 'body' | 'basic';
  /** Whether authorization requests send a PKCE challenge, for servers that require one. */
  readonly pkce: boolean;
  readonly cluster: string | undefined;
  readonly allowWrites: boolean;
  readonly visit: Visit | undefined;
  /** The admin API, when the server is a sandbox. */
  readonly admin: AdminApi | undefined;
  readonly people: People | undefined;
  readonly send: Send;
  /** The time limit of one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface HttpRequest {
  readonly origin?: 'auth' | 'api';
  readonly method: string;
  readonly path: string;
  readonly query?: Params;
  readonly form?: Params;
  readonly json?: unknown;
  readonly bearer?: Secret | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server under test of a conformance run, with the secrets and results of the run so far. */
export interface Server extends ServerOptions {
  /** Sends one request without following redirects. Never rejects because of the response. */
  readonly request: (request: HttpRequest) => Promise<HttpResponse>;
  /** Every secret that was sent or received, for removing secrets from the report. */
  readonly secrets: Set<Secret>;
  /** By shared result, the number of the statement that reported its difference first; later statements only refer to it. */
  readonly differences: Map<unknown, string>;
  /** The objects that the run created on the server and could not remove. */
  readonly left: string[];
  /** The newest refresh token of the chain that began with the refresh token given by the user. */
  readonly chain: { refreshToken: Secret | undefined };
  /** Results that several tests share, by the name of the result. */
  readonly shared: Map<string, Promise<unknown>>;
  /** A random text of letters and digits. */
  readonly unique: () => string;
}

export function testedServer(options: ServerOptions): Server {
  // Requests that are sent at the same time listen to it.
  setMaxListeners(0, options.signal);
  const known = [options.client?.secret, options.accessToken, options.refreshToken];
  const secrets = new Set<Secret>(known.filter((secret) => secret !== undefined));
  return {
    ...options,
    secrets,
    chain: { refreshToken: options.refreshToken },
    differences: new Map(),
    left: [],
    shared: new Map(),
    unique: () => randomBytes(8).toString('hex'),
    request: async (request) => {
      options.signal.throwIfAborted();
      return sendRequest(options, request);
    },
  };
}

/** Computes a result once; later calls return the same result or the same error. */
export function once<T>(server: Server, name: string, compute: () => Promise<T>): Promise<T> {
  const known = server.shared.get(name);
  // Each name is used by one caller only, so the stored result has the type that this caller expects.
  if (known !== undefined) return known as Promise<T>;
  const result = compute();
  server.shared.set(name, result);
  return result;
}

/** Creates a secret and registers it, so that the report redacts it. */
export function registerSecret(server: Server, value: string, shown: string): Secret {
  const secret = new Secret(value, shown);
  server.secrets.add(secret);
  return secret;
}

async function sendRequest(
  { authUrl, baseUrl, send, timeoutMs, signal }: ServerOptions,
  { origin = 'auth', method, path, query, form, json, bearer, headers = {} }: HttpRequest,
): Promise<HttpResponse> {
  const target = (encode: (value: string | Secret) => string): string =>
    query === undefined ? path : `${path}?${formatParameters(query, encode)}`;
  const sent = [
    `${method} ${target((value) => (typeof value === 'string' ? encodeURIComponent(value) : value.display))}`,
    ...(bearer === undefined ? [] : [`with Authorization: Bearer ${bearer.display}`]),
    ...(form === undefined ? [] : [`with the form fields ${formatParameters(form, String)}`]),
    ...(json === undefined ? [] : [`with ${typeof json === 'string' ? json : JSON.stringify(json)}`]),
  ].join(' ');
  try {
    const response = await send(`${origin === 'auth' ? authUrl : baseUrl}${target(encodeValue)}`, {
      method,
      headers: {
        accept: origin === 'auth' && method === 'GET' ? 'text/html,application/json' : 'application/json',
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer.reveal()}` }),
        ...headers,
      },
      body: bodyOf(form, json),
      timeoutMs,
      signal,
    });
    return createResponse(sent, response);
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    signal.throwIfAborted();
    return createResponse(sent, error);
  }
}

function bodyOf(form: Params | undefined, json: unknown): string | undefined {
  if (form !== undefined) return formatParameters(form, encodeValue);
  // A string is sent unchanged as the body, so that tests can send invalid JSON.
  return json === undefined || typeof json === 'string' ? json : JSON.stringify(json);
}

function encodeValue(value: string | Secret): string {
  return encodeURIComponent(typeof value === 'string' ? value : value.reveal());
}

function formatParameters(parameters: Params, encode: (value: string | Secret) => string): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) => {
      const values = value === undefined ? [] : typeof value === 'string' || value instanceof Secret ? [value] : value;
      return values.map((one) => `${encodeURIComponent(name)}=${encode(one)}`);
    })
    .join('&');
}
