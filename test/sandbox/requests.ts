import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { type SandboxServers, type ServerOptions, startServers } from '../../src/sandbox/sandbox.ts';

export interface Exchange {
  readonly status: number;
  /** The first value of each header, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  /** The address of this machine from which the request is sent. */
  readonly localAddress?: string;
}

/** A sandbox that is closed at the end of the test. */
export async function sandboxFor(options: ServerOptions = {}): Promise<SandboxServers> {
  const sandbox = await startServers(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** Sends the target unchanged. Uses node:http, because fetch would normalize path, query and Host. */
export function send(
  origin: string,
  target: string,
  { method = 'GET', headers = {}, body, localAddress }: SendOptions = {},
): Promise<Exchange> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: hostname.replace(/^\[|\]$/g, ''),
        port,
        method,
        path: target,
        headers: { ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }), ...headers },
        agent: false,
        ...(localAddress === undefined ? {} : { localAddress }),
        timeout: 15_000,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(
              Object.entries(incoming.headersDistinct).map(([name, values]) => [name, values?.[0] ?? '']),
            ),
            rawHeaders: incoming.rawHeaders,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${target}`)));
    outgoing.end(body);
  });
}

/** Writes bytes to the port; resolves with everything received until the server closes the connection. */
export function sendBytes(origin: string, bytes: string | Buffer, patienceMs = 5_000): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve(text) : reject(error)));
    socket.on('close', () => resolve(text));
  });
}

export const MAYA = 'maya@example.com';
export const TOMAS = 'tomas@example.com';

export function userOf({ ready }: SandboxServers, email: string): SandboxServers['ready']['users'][number] {
  const user = ready.users.find((one) => one.email === email);
  if (user === undefined) throw new Error(`${email} is not in the ready line`);
  return user;
}

export function admin({ ready }: SandboxServers, method: string, path: string, body?: object): Promise<Exchange> {
  return send(ready.admin_url, path, {
    method,
    headers: { 'x-admin-token': ready.admin_token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** A query string without the undefined parameters. */
export function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.append(name, value);
  return query.toString();
}

/** The query of a valid authorization request, with the changes. */
export function authorizationQuery(
  { ready }: SandboxServers,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const all = { client_id: ready.client_id, redirect_uri: ready.callback_url, response_type: 'code', ...changes };
  return queryOf(all);
}

/** Signs in through the page and returns the cookie a browser would send. */
export async function signIn(sandbox: SandboxServers, email: string): Promise<string> {
  const body = new URLSearchParams({ email, password: userOf(sandbox, email).password, next: '/panel' }).toString();
  const answer = await send(sandbox.ready.auth_url, '/panel/sign-in', { method: 'POST', headers: FORM, body });
  const cookie = answer.headers['set-cookie']?.split(';')[0];
  if (answer.status !== 303 || cookie === undefined) throw new Error(`could not sign in: ${answer.status}`);
  return cookie;
}

export function authorize(sandbox: SandboxServers, query: string, cookie?: string): Promise<Exchange> {
  return send(
    sandbox.ready.auth_url,
    `/v1/oauth/authorize?${query}`,
    cookie === undefined ? {} : { headers: { cookie } },
  );
}

/** Requests the consent page and submits its form. */
export async function answerConsentPage(
  sandbox: SandboxServers,
  cookie: string,
  query: string,
  fields: Readonly<Record<string, string>> = { decision: 'approve' },
): Promise<Exchange> {
  const page = await authorize(sandbox, query, cookie);
  return submit(sandbox, page, cookie, fields);
}

/** Sends the first form of a page with its hidden fields. */
export function submit(
  { ready }: SandboxServers,
  page: Exchange,
  cookie: string,
  fields: Readonly<Record<string, string>>,
): Promise<Exchange> {
  const [, action = '', form = ''] =
    /<main[\s\S]*?<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/.exec(page.body) ?? [];
  if (action === '') throw new Error(`there is no form on the page (${page.status}): ${page.body.slice(-600)}`);
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']): [string, string] => [name, unescaped(value)],
  );
  const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields }).toString();
  return send(ready.auth_url, unescaped(action), {
    method: 'POST',
    headers: { ...FORM, cookie, origin: ready.auth_url },
    body,
  });
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** A new authorization code of Maya or another person. */
export async function codeFor(
  sandbox: SandboxServers,
  {
    email = MAYA,
    changes = {},
    fields = {},
  }: {
    readonly email?: string;
    readonly changes?: Readonly<Record<string, string | undefined>>;
    readonly fields?: Readonly<Record<string, string>>;
  } = {},
): Promise<string> {
  const answer = await answerConsentPage(sandbox, await signIn(sandbox, email), authorizationQuery(sandbox, changes), {
    decision: 'approve',
    ...fields,
  });
  const code = locationOf(answer).searchParams.get('code');
  if (code === null) throw new Error(`no code: ${answer.status} ${answer.headers.location}`);
  return code;
}

export function locationOf(answer: Exchange): URL {
  return new URL(answer.headers.location ?? '');
}

/** Sends a token request with the parameters in the query, as the specification defines. */
export function postToken(
  { ready }: SandboxServers,
  parameters: Readonly<Record<string, string | undefined>>,
): Promise<Exchange> {
  return send(ready.auth_url, `/v1/oauth/token?${queryOf(parameters)}`, { method: 'POST' });
}

export function exchangeParameters({ ready }: SandboxServers, code: string): Readonly<Record<string, string>> {
  return {
    grant_type: 'authorization_code',
    code,
    client_id: ready.client_id,
    client_secret: ready.client_secret,
    redirect_uri: ready.callback_url,
  };
}

export interface TokenResponseBody {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
  readonly token_type: string;
  readonly info: Readonly<Record<string, string>>;
}

export async function grantFor(
  sandbox: SandboxServers,
  options: Parameters<typeof codeFor>[1] = {},
): Promise<TokenResponseBody> {
  const answer = await postToken(sandbox, exchangeParameters(sandbox, await codeFor(sandbox, options)));
  if (answer.status !== 200) throw new Error(`no grant: ${answer.status} ${answer.body}`);
  return JSON.parse(answer.body);
}

/** Tokens issued by the admin API. */
export async function tokenFor(sandbox: SandboxServers, body: object = {}): Promise<TokenResponseBody> {
  const answer = await admin(sandbox, 'POST', '/_sandbox/tokens', { user: MAYA, scope: 'read write', ...body });
  if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${answer.body}`);
  return JSON.parse(answer.body);
}

export function refreshWith(
  sandbox: SandboxServers,
  refreshToken: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Exchange> {
  return postToken(sandbox, { grant_type: 'refresh_token', refresh_token: refreshToken, ...more });
}

/** Calls the resource API with a bearer token. */
export function callApi(
  { ready }: SandboxServers,
  accessToken: string,
  method: string,
  path: string,
  body?: object | string,
): Promise<Exchange> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const type = text === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${accessToken}`, ...type };
  return send(ready.base_url, path, { method, headers, ...(text === undefined ? {} : { body: text }) });
}

export function errorOf(answer: Exchange): string {
  return JSON.parse(answer.body).error;
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
