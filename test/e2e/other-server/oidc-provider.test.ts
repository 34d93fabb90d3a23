import { cpSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Ran, type RunOptions, run, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { authorizationUrl } from '../../fixtures/login.ts';
import { type OidcServer, signInAtOidcServer, startOidcServer } from '../../fixtures/oidc-server.ts';
import { freePorts } from '../login/ports.ts';

describe.each([
  ['body', 'client_secret_post'],
  ['basic', 'client_secret_basic'],
] as const)('another authorization server: oidc-provider with rotation, credentials in %s', (place, method) => {
  let server: OidcServer;
  let callbackUrl: string;
  let folders: Folders;
  beforeAll(async () => {
    const [port] = await freePorts(1);
    callbackUrl = `http://127.0.0.1:${port}/callback`;
    server = await startOidcServer(callbackUrl, method);
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    folders = makeFolders();
    return () => folders.remove();
  });

  function options(more: Readonly<Record<string, string>> = {}): RunOptions {
    const env = {
      CLOUDCTL_AUTH_URL: server.issuer,
      CLOUDCTL_BASE_URL: server.issuer,
      CLOUDCTL_CLIENT_ID: server.client_id,
      CLOUDCTL_CLIENT_SECRET: server.client_secret,
      CLOUDCTL_CALLBACK_URL: callbackUrl,
      CLOUDCTL_CREDENTIAL_STORE: 'file',
      CLOUDCTL_TOKEN_PARAMS: place,
      ...more,
    };
    return { folders, env };
  }

  async function logIn(more = {}): Promise<{ readonly ran: Ran; readonly page: string }> {
    const running = start(['auth', 'login', '--no-browser', '--scope', 'read write'], options(more));
    const [url] = await running.waitFor('stderr', authorizationUrl);
    const page = await signInAtOidcServer(url);
    running.child.stdin?.end();
    return { ran: await running.ended, page };
  }

  const token = async (): Promise<string> => (await run(['auth', 'token'], options())).stdout.trim();
  const accepts = async (accessToken: string): Promise<boolean> => {
    const answer = await fetch(`${server.issuer}/v2/actions`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    await answer.body?.cancel();
    return answer.ok;
  };

  test('login: a token response without info starts a session without e-mail address', async () => {
    const { ran, page } = await logIn();
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(page).toMatch(/\bare signed\b/);
    expect(ran.stderr).not.toContain(server.client_secret);
    expect(await run(['actions', 'list', '-o', 'json'], options())).toMatchObject({ code: 0, stdout: '[]\n' });
    const status = await run(['auth', 'status', '-o', 'json'], options());
    expect(status.json()).toMatchObject({ scope: 'read write', state: 'valid', flow: 'code' });
    expect(status.json()).not.toHaveProperty('email');
  });

  test('three refreshes, each with the previous refresh token: the resource API accepts the newest access token', async () => {
    expect((await logIn()).ran.code).toBe(0);
    const seen = [await token()];
    for (let round = 0; round < 3; round++) {
      expect(await run(['auth', 'refresh'], options())).toMatchObject({ code: 0 });
      seen.push(await token());
    }
    expect(new Set(seen).size).toBe(4);
    expect(await accepts(seen.at(-1) ?? '')).toBe(true);
    expect((await server.log()).filter((line) => line.startsWith('POST /v1/oauth/token 4'))).toEqual([]);
  });

  test('logout: the access token is rejected afterwards, and no session remains', async () => {
    expect((await logIn()).ran.code).toBe(0);
    const last = await token();
    expect(await accepts(last)).toBe(true);
    expect(await run(['auth', 'logout'], options())).toMatchObject({ code: 0 });
    expect(await accepts(last)).toBe(false);
    expect(await run(['auth', 'token'], options())).toMatchObject({ code: 4, stdout: '' });
  });

  test('a refresh token used by another process ends the session: exit 4, with a hint to log in', async () => {
    expect((await logIn()).ran.code).toBe(0);
    const copy = makeFolders();
    try {
      cpSync(folders.state, copy.state, { recursive: true });
      expect(await run(['auth', 'refresh'], { ...options(), folders: copy })).toMatchObject({ code: 0 });
      const late = await run(['auth', 'refresh'], options());
      expect(late).toMatchObject({ code: 4, stdout: '' });
      expect(late.stderr).toMatch(/auth login/);
    } finally {
      copy.remove();
    }
  });

  test('its issuer is checked when the profile names one (RFC 9207)', async () => {
    expect((await run(['config', 'set', 'issuer', server.issuer], options())).code).toBe(0);
    expect((await logIn()).ran.code).toBe(0);
    expect((await run(['config', 'set', 'issuer', 'https://another.example'], options())).code).toBe(0);
    const { ran } = await logIn();
    expect(ran).toMatchObject({ code: 4, stdout: '' });
  });

  test('a wrong client secret is invalid_client, with the other token_params in the hint, and no session is kept', async () => {
    const { ran } = await logIn({ CLOUDCTL_CLIENT_SECRET: 'not the secret at all' });
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toMatch(/auth setup/);
    expect(ran.stderr).toContain(` token_params ${place === 'body' ? 'basic' : 'body'}`);
    expect(await run(['auth', 'token'], options())).toMatchObject({ code: 4, stdout: '' });
  });
});
