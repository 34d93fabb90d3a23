import type { SandboxAdminApi } from '../api/sandbox-admin.ts';
import { Secret } from '../base/secret.ts';
import { readResponseBodyText } from '../platform/buffered-response-body.ts';
import { HttpSendError, type HttpSender } from '../platform/http-sender.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import { type ConformanceResponse, createConformanceResponse } from './conformance-response.ts';

/** Parameters by name; undefined ones are left out, and a list sends a parameter several times. */
export type RequestParameterValues = Readonly<
  Record<string, string | Secret | readonly (string | Secret)[] | undefined>
>;

/** The registered application with which the server is tested. */
export interface TestedClient {
  readonly id: string;
  readonly secret: Secret | undefined;
  readonly callbackUrl: string;
}

/** A user of the sandbox, as its admin API describes it. */
export interface TestedPerson {
  readonly email: string;
  readonly password: Secret;
  readonly uuid: string;
  readonly teams: readonly { readonly uuid: string; readonly name: string }[];
}

/** The users, applications and clusters of a sandbox. */
export interface SandboxTestResources {
  readonly users: readonly TestedPerson[];
  readonly applications: readonly TestedClient[];
  readonly clusters: readonly { readonly uuid: string; readonly engine: string; readonly hasServer: boolean }[];
}

/** Opens an authorization URL in the browser of a person and waits for the redirect to the callback URL. */
export type BrowserAuthorizer = (visit: {
  readonly url: string;
  /** The `state` parameter of the authorization URL. */
  readonly state: string;
  readonly flow: 'code' | 'implicit';
  /** Whether the person is asked to approve or to deny the authorization request. */
  readonly request: 'approve' | 'deny';
}) => Promise<Readonly<Record<string, string>>>;

export interface ServerUnderTestOptions {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly client: TestedClient | undefined;
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
  readonly visit: BrowserAuthorizer | undefined;
  /** The admin API, when the server is a sandbox. */
  readonly admin: SandboxAdminApi | undefined;
  readonly people: SandboxTestResources | undefined;
  readonly send: HttpSender;
  readonly timeoutMs: number;
  readonly random: (bytes: number) => Uint8Array;
  readonly signal: AbortSignal;
}

export interface ConformanceRequest {
  readonly origin?: 'auth' | 'api';
  readonly method: string;
  readonly path: string;
  readonly query?: RequestParameterValues;
  readonly form?: RequestParameterValues;
  readonly json?: unknown;
  readonly bearer?: Secret | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server under test of a conformance run, with the secrets and results of the run so far. */
export interface ServerUnderTest extends ServerUnderTestOptions {
  /** Sends one request without following redirects. Never rejects because of the response. */
  readonly request: (request: ConformanceRequest) => Promise<ConformanceResponse>;
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

const bodyLimit = 1024 * 1024;

export function createServerUnderTestClient(options: ServerUnderTestOptions): ServerUnderTest {
  const known = [options.client?.secret, options.accessToken, options.refreshToken];
  const secrets = new Set<Secret>(known.filter((secret) => secret !== undefined));
  return {
    ...options,
    secrets,
    chain: { refreshToken: options.refreshToken },
    differences: new Map(),
    left: [],
    shared: new Map(),
    unique: () => Buffer.from(options.random(8)).toString('hex'),
    request: async (request) => {
      options.signal.throwIfAborted();
      return sendConformanceRequest(options, request);
    },
  };
}

/** Computes a result once; later calls return the same result or the same error. */
export function computeOncePerServer<T>(server: ServerUnderTest, name: string, compute: () => Promise<T>): Promise<T> {
  const known = server.shared.get(name);
  // Each name is used by one caller only, so the stored result has the type that this caller expects.
  if (known !== undefined) return known as Promise<T>;
  const result = compute();
  server.shared.set(name, result);
  return result;
}

/** Creates a secret and registers it, so that the report redacts it. */
export function registerRedactedSecret(server: ServerUnderTest, value: string, shown: string): Secret {
  const secret = new Secret(value, shown);
  server.secrets.add(secret);
  return secret;
}

async function sendConformanceRequest(
  { authUrl, baseUrl, send, timeoutMs, signal }: ServerUnderTestOptions,
  { origin = 'auth', method, path, query, form, json, bearer, headers = {} }: ConformanceRequest,
): Promise<ConformanceResponse> {
  const target = (encode: (value: string | Secret) => string): string =>
    query === undefined ? path : `${path}?${formatParameters(query, encode)}`;
  const sent = [
    `${method} ${target((value) => (typeof value === 'string' ? encodeURIComponent(value) : value.display))}`,
    ...(bearer === undefined ? [] : [`with Authorization: Bearer ${bearer.display}`]),
    ...(form === undefined ? [] : [`with the form fields ${formatParameters(form, String)}`]),
    ...(json === undefined ? [] : [`with ${typeof json === 'string' ? json : JSON.stringify(json)}`]),
  ].join(' ');
  const body = bodyOf(form, json);
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
      ...(body === undefined ? {} : { body }),
      signal: timeoutSignal(timeoutMs, signal),
      redirect: 'manual',
    });
    const text = await readResponseBodyText(response, bodyLimit);
    const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
    return createConformanceResponse({ sent, status: response.status, header, body: text });
  } catch (error) {
    if (!(error instanceof HttpSendError)) throw error;
    signal.throwIfAborted();
    return createConformanceResponse({ sent, status: 0, header: () => undefined, body: '', failure: error.message });
  }
}

function bodyOf(form: RequestParameterValues | undefined, json: unknown): string | undefined {
  if (form !== undefined) return formatParameters(form, encodeValue);
  // A string is sent unchanged as the body, so that tests can send invalid JSON.
  return json === undefined || typeof json === 'string' ? json : JSON.stringify(json);
}

function encodeValue(value: string | Secret): string {
  return encodeURIComponent(typeof value === 'string' ? value : value.reveal());
}

function formatParameters(parameters: RequestParameterValues, encode: (value: string | Secret) => string): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) => {
      const values = value === undefined ? [] : typeof value === 'string' || value instanceof Secret ? [value] : value;
      return values.map((one) => `${encodeURIComponent(name)}=${encode(one)}`);
    })
    .join('&');
}
