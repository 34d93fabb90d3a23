import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchBrowser } from '../../fixtures/browser.ts';
import { type Ran, type RunOptions, run, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { authorizationUrl } from '../../fixtures/login.ts';
import { lacks } from '../../fixtures/needs.ts';
import { startOrizeServer } from '../../fixtures/orize-server.mjs';
import { freePorts } from '../login/ports.ts';

describe.skipIf(lacks('chromium'))('another authorization server: oauth2orize', () => {
  let browser: Browser;
  let home: Folders;
  beforeAll(async () => {
    home = makeFolders();
    browser = await launchBrowser(home);
  }, 30_000);
  afterAll(async () => {
    await browser.close();
    home.remove();
  });

  async function openFixture(serverOptions: { readonly life?: number; readonly issuer?: string } = {}) {
    const [port] = await freePorts(1);
    const callbackUrl = `http://127.0.0.1:${port}/callback`;
    const server = await startOrizeServer(callbackUrl, serverOptions);
    const folders = makeFolders();
    onTestFinished(async () => {
      await server.stop();
      folders.remove();
    });
    const options: RunOptions = {
      folders,
      env: {
        CLOUDCTL_AUTH_URL: server.origin,
        CLOUDCTL_BASE_URL: server.origin,
        CLOUDCTL_CLIENT_ID: server.client.id,
        CLOUDCTL_CLIENT_SECRET: server.client.secret,
        CLOUDCTL_CALLBACK_URL: callbackUrl,
        CLOUDCTL_CREDENTIAL_STORE: 'file',
        CLOUDCTL_TOKEN_PARAMS: 'body',
      },
    };
    return {
      server,
      cloudctl: (...words: string[]) => run(words, options),
      /** Logs in through the page of the server; returns the final page and the result of the command. */
      logIn: async (
        button: 'Allow' | 'Deny',
        ...words: string[]
      ): Promise<{ readonly ran: Ran; readonly page: string }> => {
        const running = start(['auth', 'login', '--no-browser', ...words], options);
        const [url] = await running.waitFor('stderr', authorizationUrl);
        const tab = await browser.newPage();
        await tab.goto(url);
        await tab.getByRole('button', { name: button }).click();
        await tab.waitForURL(/\/done\//);
        const page = await tab.locator('main').innerText();
        await tab.close();
        running.child.stdin?.end();
        return { ran: await running.ended, page };
      },
    };
  }

  test('the implicit flow: a token response without expires_in is assumed to be valid for 30 days', async () => {
    const { logIn, cloudctl } = await openFixture();
    const { ran, page } = await logIn('Allow', '--flow', 'implicit');
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(page).toMatch(/\bare signed\b/);
    expect(ran.stderr).toMatch(/\b30 days\b/);
    expect(await cloudctl('actions', 'list', '-o', 'json')).toMatchObject({ code: 0, stdout: '[]\n' });
    const status = await cloudctl('auth', 'status', '-o', 'json');
    expect(status.json()).toMatchObject({ state: 'valid', flow: 'implicit', scope_verified: false });
  });

  test('the implicit flow: a denial in the fragment is access_denied, and the hint names the same flow', async () => {
    const { logIn, server } = await openFixture();
    const { ran, page } = await logIn('Deny', '--flow', 'implicit');
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toMatch(/--flow implicit/);
    expect(page).toMatch(/\bdenied\b/);
    expect(server.alive()).toEqual([0, 0]);
  });

  test.each([
    ['the issuer of the profile', 'https://issuer.example', 0],
    ['another issuer', 'https://another.example', 4],
  ])('the implicit flow: %s in the query is compared with the profile (RFC 9207)', async (_what, issuer, code) => {
    const { logIn, cloudctl } = await openFixture({ issuer });
    expect((await cloudctl('config', 'set', 'issuer', 'https://issuer.example')).code).toBe(0);
    expect((await logIn('Allow', '--flow', 'implicit')).ran.code).toBe(code);
    expect((await cloudctl('auth', 'token')).code).toBe(code);
  });

  test('three refreshes without rotation: the refresh token stays valid', async () => {
    const { logIn, cloudctl, server } = await openFixture({ life: 7200 });
    const { ran } = await logIn('Allow');
    expect(ran.code).toBe(0);
    expect(ran.stderr).not.toMatch(/\b30 days\b/);
    for (let round = 0; round < 3; round++) expect(await cloudctl('auth', 'refresh')).toMatchObject({ code: 0 });
    expect(server.alive()).toEqual([4, 1]);
    expect((await cloudctl('actions', 'list')).code).toBe(0);
  });

  test('tokens without an expiry are refreshed too', async () => {
    const { logIn, cloudctl } = await openFixture();
    expect((await logIn('Allow')).ran.code).toBe(0);
    expect(await cloudctl('auth', 'refresh')).toMatchObject({ code: 0 });
    expect((await cloudctl('auth', 'status', '-o', 'json')).json()).toMatchObject({ state: 'valid' });
  });

  test('logout: both tokens are revoked at the server', async () => {
    const { logIn, cloudctl, server } = await openFixture();
    expect((await logIn('Allow')).ran.code).toBe(0);
    expect(server.alive()).toEqual([1, 1]);
    expect(await cloudctl('auth', 'logout')).toMatchObject({ code: 0 });
    expect(server.alive()).toEqual([0, 0]);
  });

  test('invalid_client of a server that does not read the query: the hint names token_params body', async () => {
    const { logIn } = await openFixture();
    const { ran } = await logIn('Allow', '--token-params', 'query');
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toMatch(/ token_params body\b/);
  });
});
