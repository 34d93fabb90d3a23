import { createServer } from 'node:http';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { admin, authorizationQuery, callApi, grantFor, MAYA, sandboxFor, TOMAS, userOf } from '../requests.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}, 30_000);

afterAll(async () => {
  await browser?.close();
});

describe('a browser completes the pages of a login', () => {
  it.each(['code', 'token'])('sign in, approve, redirect (response_type %s)', async (response_type) => {
    const { sandbox, page, errors, callback } = await openFixture();
    await page.goto(
      `${sandbox.ready.auth_url}/v1/oauth/authorize?${authorizationQuery(sandbox, { response_type, state: 'ü +&' })}`,
    );
    await fillIn(page, sandbox, MAYA);
    await page.getByRole('button', { name: 'Authorize application' }).click();
    await page.waitForURL(`${callback}/**`);
    const url = new URL(page.url());
    const answer = response_type === 'code' ? url.searchParams : new URLSearchParams(url.hash.slice(1));
    expect(answer.get('state')).toBe('ü +&');
    expect(answer.get(response_type === 'code' ? 'code' : 'access_token')).toMatch(/\S/);
    expect(errors).toEqual([]);
  });

  it('a page uses the token of the implicit flow, and revokes it', async () => {
    const { sandbox, page, callback } = await openFixture();
    const { auth_url, base_url } = sandbox.ready;
    await page.goto(
      `${auth_url}/v1/oauth/authorize?${authorizationQuery(sandbox, { response_type: 'token', scope: 'read write' })}`,
    );
    await fillIn(page, sandbox, MAYA);
    await page.getByRole('button', { name: 'Authorize application' }).click();
    await page.waitForURL(`${callback}/**`);
    const token = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('access_token') ?? '';
    const request = (url: string, method: string, json?: object): Promise<readonly [number, string | null]> =>
      page.evaluate(
        async ([target, verb, bearer, body]) => {
          const headers = {
            authorization: `Bearer ${bearer}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          };
          const response = await fetch(target, { method: verb, headers, ...(body === undefined ? {} : { body }) });
          return [response.status, response.headers.get('date')] as const;
        },
        [url, method, token, json === undefined ? undefined : JSON.stringify(json)] as const,
      );
    const options = { name: 'from-a-page', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };
    expect(await request(`${base_url}/v2/droplets`, 'GET')).toEqual([200, expect.any(String)]);
    expect(await request(`${base_url}/v2/droplets`, 'POST', options)).toEqual([202, expect.any(String)]);
    expect(await request(`${auth_url}/v1/oauth/revoke?token=${token}`, 'POST')).toEqual([200, expect.any(String)]);
    expect(await request(`${base_url}/v2/droplets`, 'GET')).toEqual([404, expect.any(String)]);
    await expect(request(`${auth_url}/v1/oauth/token?grant_type=refresh_token`, 'POST')).rejects.toThrow();
  });

  it('the application may redirect to another origin', async () => {
    const { sandbox, page, errors } = await openFixture({ onward: true });
    await page.goto(`${sandbox.ready.auth_url}/v1/oauth/authorize?${authorizationQuery(sandbox)}`);
    await fillIn(page, sandbox, MAYA);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.waitForURL('http://localhost:*/done');
    expect(errors).toEqual([]);
  });

  it('the pages work with the keyboard alone, and every field has a label', async () => {
    const { sandbox, page, callback } = await openFixture();
    await page.goto(`${sandbox.ready.auth_url}/v1/oauth/authorize?${authorizationQuery(sandbox)}`);
    await page.locator('#email:focus').waitFor();
    await page.keyboard.type(TOMAS);
    await page.keyboard.press('Tab');
    await page.keyboard.type(userOf(sandbox, TOMAS).password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Authorize Sandbox CLI?' }).waitFor();
    await page.getByRole('radio', { name: 'The team Harbour Works' }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${callback}/**`);
    const code = new URL(page.url()).searchParams.get('code') ?? '';
    expect(sandbox.world.grants.code(code)?.team).toBe(userOf(sandbox, TOMAS).teams[0]?.uuid);
  });
});

describe('My applications in a browser', () => {
  it('the button revokes the authorization, and signing out shows the sign-in page', async () => {
    const { sandbox, page, errors } = await openFixture();
    const { access_token } = await grantFor(sandbox);
    await page.goto(`${sandbox.ready.auth_url}/panel/applications`);
    await fillIn(page, sandbox, MAYA);
    await page.getByRole('button', { name: 'Revoke Sandbox CLI' }).click();
    await page.getByRole('button', { name: 'Revoke Sandbox CLI' }).waitFor({ state: 'detached' });
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });

  it('prompt=none redirects without a page when the browser has a session', async () => {
    const { sandbox, page, callback } = await openFixture();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    await page.goto(`${sandbox.ready.auth_url}/v1/oauth/authorize?${authorizationQuery(sandbox)}`);
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'ask' });
    await page.goto(`${sandbox.ready.auth_url}/v1/oauth/authorize?${authorizationQuery(sandbox, { prompt: 'none' })}`);
    expect(page.url().startsWith(callback)).toBe(true);
    expect(new URL(page.url()).searchParams.has('code')).toBe(true);
  });
});

describe('layout of the pages', () => {
  it.each([
    [1280, 720],
    [375, 667],
  ])('the consent page with a team shows its buttons at %d x %d without scrolling', async (width, height) => {
    const { sandbox, page } = await openFixture();
    await page.setViewportSize({ width, height });
    await page.goto(
      `${sandbox.ready.auth_url}/v1/oauth/authorize?${authorizationQuery(sandbox, { scope: 'read write' })}`,
    );
    await fillIn(page, sandbox, TOMAS);
    for (const name of ['Authorize application', 'Deny']) {
      const box = await page.getByRole('button', { name }).boundingBox();
      expect((box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0)).toBeLessThan(height - 40);
    }
  });

  it('every page of the panel fits a phone and is linked from the home page', async () => {
    const { sandbox, page, errors } = await openFixture();
    await grantFor(sandbox);
    await page.goto(`${sandbox.ready.auth_url}/panel`);
    await fillIn(page, sandbox, MAYA);
    await page.setViewportSize({ width: 360, height: 667 });
    for (const name of PAGES) {
      await page.getByRole('main').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
      expect(await page.getByRole('navigation').getByRole('link', { name }).getAttribute('aria-current')).toBe('page');
      await page.getByRole('link', { name: 'Home' }).click();
    }
    expect(errors).toEqual([]);
  });

  it('the clock is advanced with the keyboard alone', async () => {
    const { sandbox, page, errors } = await openFixture();
    await page.goto(`${sandbox.ready.auth_url}/panel/clock`);
    await fillIn(page, sandbox, MAYA);
    await page.getByLabel('Advance by').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => sandbox.world.clock.offset).toBe(30 * 86_400_000);
    expect(errors).toEqual([]);
  });

  it('the timeline of another application can be selected with the keyboard', async () => {
    const { sandbox, page } = await openFixture();
    await page.goto(`${sandbox.ready.auth_url}/panel/timeline`);
    await fillIn(page, sandbox, MAYA);
    await page.getByLabel('Application').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText(/^Sandbox Dashboard .*\.$/).waitFor();
  });
});

const PAGES = [
  'My applications',
  'Tokens',
  'Droplets',
  'Migrations',
  'Request log',
  'Timeline of a login',
  'Clock and faults',
];

interface Fixture {
  readonly sandbox: SandboxServers;
  readonly page: Page;
  /** Errors in the console of the browser. */
  readonly errors: readonly string[];
  /** Origin of the application. */
  readonly callback: string;
}

/** A sandbox, an application that receives the redirect, and a browser without cookies. */
async function openFixture({ onward = false } = {}): Promise<Fixture> {
  const application = createServer((request, response) => {
    const { port } = new URL(`http://${request.headers.host}`);
    if (onward && request.url?.startsWith('/callback'))
      response.writeHead(302, { location: `http://localhost:${port}/done` }).end();
    else
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><link rel="icon" href="data:,"><title>done</title>');
  });
  const port = await new Promise<number>((resolve) => {
    application.listen(0, '127.0.0.1', () => {
      const address = application.address();
      resolve(address !== null && typeof address === 'object' ? address.port : 0);
    });
  });
  const callback = `http://127.0.0.1:${port}`;
  const sandbox = await sandboxFor({ callbackUrls: [`${callback}/callback`] });
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  onTestFinished(async () => {
    await context.close();
    application.closeAllConnections();
    application.close();
  });
  return { sandbox, page, errors, callback };
}

async function fillIn(page: Page, sandbox: SandboxServers, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(userOf(sandbox, email).password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
