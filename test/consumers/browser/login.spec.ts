// A suite of another project for Playwright: a person signs in to the sandbox and authorizes the application.
import { test as base, expect } from '@playwright/test';
import { type Sandbox, sandboxFixture } from 'cloudctl/sandbox';

const test = base.extend<{ sandbox: Sandbox }>({ sandbox: sandboxFixture({ seed: 1 }) });

test.use({ launchOptions: { executablePath: process.env.CHROMIUM ?? '', args: ['--no-sandbox'] } });

test('a person authorizes the application', async ({ page, sandbox }) => {
  const { id, callbackUrl } = sandbox.client;
  const query = new URLSearchParams({ response_type: 'code', client_id: id, redirect_uri: callbackUrl, state: 'abc' });
  const redirect = page.waitForRequest((request) => request.url().startsWith(callbackUrl));
  await page.goto(`${sandbox.authUrl}/v1/oauth/authorize?${query}`);
  await page.getByLabel('E-mail address').fill(sandbox.users[0]?.email ?? '');
  await page.getByLabel('Password').fill(sandbox.users[0]?.password ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Authorize application' }).click();
  const { searchParams } = new URL((await redirect).url());
  expect(searchParams.get('state')).toBe('abc');
  expect(searchParams.has('code')).toBe(true);
});

test('each test has a sandbox of its own', async ({ sandbox, request }) => {
  expect(sandbox.requests()).toHaveLength(0);
  const { accessToken } = sandbox.tokens.issue();
  const headers = { authorization: `Bearer ${accessToken}` };
  expect((await request.get(`${sandbox.apiUrl}/v2/account`, { headers })).status()).toBe(200);
});
