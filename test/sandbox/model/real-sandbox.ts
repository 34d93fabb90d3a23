import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import {
  admin,
  authorizationQuery,
  authorize,
  MAYA,
  queryOf,
  send,
  signIn,
  submit,
  TOMAS,
  userOf,
} from '../requests.ts';
import { grantWords, type Step } from './model.ts';
import { type Answered, prepareConnection } from './prepared-request.ts';

/** Executes the steps against a running sandbox. Keeps every code and token it received. */
export interface Real {
  readonly codes: ReadonlyMap<string, string>;
  readonly pairs: ReadonlyMap<string, Tokens>;
  /** Prepares a step; the returned function sends it. Several prepared steps can be sent together. */
  readonly prepare: (step: Step) => Promise<() => Promise<string>>;
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string | undefined;
}

const DROPLET = JSON.stringify({ name: 'model', region: 'fra1', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' });

export const PEOPLE = [MAYA, TOMAS] as const;

export function createReal(sandbox: SandboxServers): Real {
  const codes = new Map<string, string>();
  const pairs = new Map<string, Tokens>();
  const spent = new Set<string>();
  const cookies = new Map<string, string>();
  /** The application of each token pair. */
  const owners = new Map<string, number>();
  const { ready } = sandbox;
  const { applications } = sandbox.world.seed;

  function pairValue(step: string, token: 'refresh' | 'access'): string {
    const tokens = pairs.get(step);
    return (token === 'refresh' ? tokens?.refresh : tokens?.access) ?? 'sandbox_never-issued';
  }

  function redirectOf(client: number): string {
    return applications[client]?.callbackUrls[0] ?? '';
  }

  function credentials(client: number, isWrong: boolean): { client_id: string; client_secret: string } {
    const { clientId = '', clientSecret = '' } = applications[client] ?? {};
    return { client_id: clientId, client_secret: isWrong ? `${clientSecret}x` : clientSecret };
  }

  /** A code or refresh token can be exchanged once: the server must not accept it again. */
  function granted(step: string, value: string, answer: Answered): string {
    const body = JSON.parse(answer.body);
    if (answer.status !== 200) return `${answer.status} ${body.error}`;
    if (spent.has(value)) throw new Error(`${step}: a code or refresh token was taken twice`);
    spent.add(value);
    for (const { access, refresh } of pairs.values())
      if ([access, refresh].includes(body.access_token) || [access, refresh].includes(body.refresh_token))
        throw new Error(`${step}: a token was issued twice`);
    pairs.set(step, { access: body.access_token, refresh: body.refresh_token });
    const { email, team_uuid: team } = body.info;
    const bound = { scope: body.scope, person: email, team: team !== undefined };
    return `200 grant: ${grantWords({ ...bound, client: 0, approval: '', at: 0 })}`;
  }

  async function cookieOf(person: string): Promise<string> {
    const cookie = cookies.get(person) ?? (await signIn(sandbox, person));
    cookies.set(person, cookie);
    return cookie;
  }

  async function ask(step: Extract<Step, { kind: 'authorize' | 'silent' }>, cookie?: string): Promise<string> {
    const { clientId } = applications[step.client] ?? {};
    const isTeam = step.kind === 'authorize' && step.team;
    const team = isTeam ? userOf(sandbox, step.person).teams[0]?.uuid : undefined;
    await admin(sandbox, 'POST', '/_sandbox/consent', {
      mode: 'approve',
      user: step.person,
      ...(team === undefined ? {} : { team }),
    });
    const query = authorizationQuery(sandbox, {
      client_id: clientId,
      redirect_uri: redirectOf(step.client),
      scope: step.scope,
      ...(step.kind === 'silent' ? { prompt: 'none' } : { response_type: step.flow }),
    });
    const location = new URL((await authorize(sandbox, query, cookie)).headers.location ?? '');
    const code = location.searchParams.get('code');
    const token = new URLSearchParams(location.hash.slice(1)).get('access_token');
    if (code !== null) codes.set(step.step, code);
    owners.set(step.step, step.client);
    if (token !== null) pairs.set(step.step, { access: token, refresh: undefined });
    return code !== null ? 'code' : token !== null ? 'token' : (location.searchParams.get('error') ?? 'nothing');
  }

  /** Revokes through the page of the control panel. */
  async function withdrawal(person: string, client: number): Promise<() => Promise<string>> {
    const cookie = await cookieOf(person);
    const page = await send(sandbox.ready.auth_url, '/panel/applications', { headers: { cookie } });
    const form = page.body.split('<section').find((part) => part.includes(`<h2>${applications[client]?.name}</h2>`));
    if (form === undefined) return async () => 'withdrawn';
    return async () => {
      const { status } = await submit(sandbox, { ...page, body: `<main>${form}` }, cookie, {});
      return status === 303 ? 'withdrawn' : String(status);
    };
  }

  return {
    codes,
    pairs,
    prepare: async (step) => {
      switch (step.kind) {
        case 'authorize':
          return () => ask(step);
        case 'silent': {
          const cookie = await cookieOf(step.person);
          return () => ask(step, cookie);
        }
        case 'exchange': {
          const code = codes.get(step.code) ?? 'never-issued';
          const redirectUri = `${redirectOf(step.client)}${step.spoil === 'redirect' ? '/' : ''}`;
          const parameters = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
          owners.set(step.step, step.client);
          const both = { ...parameters, ...credentials(step.client, step.spoil === 'secret') };
          const sendPrepared = await prepareConnection(ready.auth_url);
          return async () =>
            granted(step.step, code, await sendPrepared(`/v1/oauth/token?${queryOf(both)}`, { method: 'POST' }));
        }
        case 'refresh': {
          const value = pairValue(step.pair, step.token);
          const own = owners.get(step.pair) ?? 0;
          owners.set(step.step, own);
          const sent =
            step.client === 'nobody'
              ? {}
              : credentials(step.client === 'other' ? 1 - own : own, step.client === 'wrong');
          const query = queryOf({ grant_type: 'refresh_token', refresh_token: value, ...sent });
          const sendPrepared = await prepareConnection(ready.auth_url);
          return async () =>
            granted(step.step, value, await sendPrepared(`/v1/oauth/token?${query}`, { method: 'POST' }));
        }
        case 'revoke': {
          const query = queryOf({ token: pairValue(step.pair, step.token) });
          const sendPrepared = await prepareConnection(ready.auth_url);
          return async () => {
            const { status, body } = await sendPrepared(`/v1/oauth/revoke?${query}`, { method: 'POST' });
            return `${status} ${body}`;
          };
        }
        case 'withdraw':
          return withdrawal(step.person, step.client);
        case 'call': {
          const value = pairValue(step.pair, step.token);
          const isGet = step.method === 'GET';
          const headers = {
            authorization: `Bearer ${value}`,
            ...(isGet ? {} : { 'content-type': 'application/json' }),
          };
          const sendPrepared = await prepareConnection(ready.base_url);
          return async () => {
            const answer = await sendPrepared('/v2/droplets', {
              method: step.method,
              headers,
              ...(isGet ? {} : { body: DROPLET }),
            });
            return answer.status < 300 ? String(answer.status) : `${answer.status} ${JSON.parse(answer.body).id}`;
          };
        }
        case 'advance':
          return async () => {
            await admin(sandbox, 'POST', '/_sandbox/clock', { advance: step.by });
            return 'later';
          };
        default:
          return step satisfies never;
      }
    },
  };
}
