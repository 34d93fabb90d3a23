import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import { encodeRecord } from '../../../src/auth/session/record.ts';
import { createFileStore } from '../../../src/auth/session/store.ts';
import { closedOrigin, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, testHost } from '../../fixtures/host.ts';
import { profileOf, seedSession, storedRecord } from '../../fixtures/session.ts';
import { admin, callApi, MAYA, sandboxFor, TOMAS, tokenFor, userOf } from '../../sandbox/requests.ts';
import {
  authorizationLine,
  createSandboxHost,
  followRedirects,
  recordedRequests,
  runCloudctl,
  runLogin,
  sandboxEnvironment,
  stableText,
  startCloudctl,
} from '../run-cloudctl.ts';

/** The lines of the report after a login. */
const report = /^(Logged in|Scope|The s)/;

describe('auth login', () => {
  it('stores a session that works, and reports the account on standard error', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    const ran = await runLogin(host);
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(ran.err).toContain('<maya@example.com>');
    expectGolden('auth', stableText(ran, report));
    const stored = storedRecord(profilePaths(host.folders.state, 'default'));
    expect(stored).toMatchObject({ gen: 1, scope: 'read', baseOrigin: sandbox.ready.base_url });
    expect((await callApi(sandbox, stored?.accessToken.reveal() ?? '', 'GET', '/v2/actions')).status).toBe(200);
    expect(ran.err).not.toContain(stored?.accessToken.reveal());
  });

  it('prints the documented shape with -o json', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const ran = await runLogin(host, ['--scope', 'read write', '-o', 'json']);
    expect(ran.json()).toEqual({
      profile: 'default',
      name: expect.any(String),
      email: MAYA,
      uuid: userOf(sandbox, MAYA).uuid,
      scope: 'read write',
      scope_verified: true,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      flow: 'code',
      store: 'file',
    });
  });

  it('names the team the person chose', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const person = sandbox.ready.users.find(({ teams }) => teams.length > 0);
    const team = person?.teams[0];
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: person?.email, team: team?.uuid });
    const ran = await runLogin(host, ['-o', 'json']);
    expect(ran.json()).toMatchObject({ team_name: team?.name, team_uuid: team?.uuid });
    expect(ran.err).toContain(`team ${team?.name}`);
  });

  it('works from the environment alone and leaves no profile behind', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    host.writeConfig({});
    expect((await runLogin(host)).code).toBe(0);
    expect(host.readConfig().profiles.size).toBe(0);
    expect((await runCloudctl(host, ['droplets', 'list', '-o', 'json'])).code).toBe(0);
  });

  it('keeps with the profile what later commands need', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    const { profiles } = host.readConfig();
    const { credential_store: _file, base_url: _base, ...rest } = profiles.get('default') ?? {};
    host.writeConfig({ profiles: { default: rest } });
    await runLogin(host, ['--credential-store', 'file', '--base-url', sandbox.ready.base_url]);
    expect(host.readConfig().profiles.get('default')).toMatchObject({
      credential_store: 'file',
      base_url: sandbox.ready.base_url,
    });
    expect((await runCloudctl(host, ['auth', 'status'])).code).toBe(0);
  });

  it('keeps the session in the keychain unless told otherwise', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, {
      env: { ...sandboxEnvironment(sandbox), CLOUDCTL_CREDENTIAL_STORE: 'keychain' },
    });
    const ran = await runLogin(host, ['-o', 'json']);
    expect(ran.json()).toMatchObject({ store: 'keychain' });
    expect(ran.err).toContain('default#');
    expectGolden('auth', stableText(ran, report));
    expect(existsSync(profilePaths(host.folders.state, 'default').credentialFile)).toBe(false);
    expect((await runCloudctl(host, ['auth', 'token'])).out).toMatch(/^\S+\n$/);
  });

  it('with the implicit flow warns that there is no refresh token', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const { access_token: token } = await tokenFor(sandbox, { scope: 'read' });
    const pasting = startCloudctl(host, ['auth', 'login', '--flow', 'implicit', '--paste', '-o', 'json']);
    const [, state = ''] = await pasting.waitForOutput(/[?&]state=([\w-]+)/);
    const fragment = `access_token=${token}&token_type=bearer&expires_in=2592000&state=${state}`;
    pasting.host.stdin.push(`${sandbox.ready.callback_url}#${fragment}\n`);
    const pasted = await pasting.ended;
    expect(pasted.json()).toMatchObject({ flow: 'implicit', scope: 'read', scope_verified: false });
    expect(pasted.json()).not.toHaveProperty('email');
    expectGolden('auth', stableText(pasted, /^warning|Logged in|Scope/));
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).not.toHaveProperty('refreshToken');
  });
});

describe('a login that is not to be', () => {
  it.each([
    ['refused', { error: 'access_denied' }, 'access_denied', 4],
    ['without consent', { error: 'consent_required' }, 'consent_required', 4],
    ['with nobody signed in', { error: 'login_required' }, 'login_required', 4],
    ['of an unknown scope', { error: 'invalid_scope' }, 'invalid_scope', 4],
    ['by a server that failed', { error: 'server_error' }, 'server_error', 1],
    ['by a server that is away', { error: 'temporarily_unavailable' }, 'temporarily_unavailable', 1],
    ['with a word nobody knows', { error: 'whatever' }, 'api_error', 1],
    ['with code and error', { error: 'access_denied', code: 'x' }, 'malformed_response', 4],
    ['with a code that is unknown', { code: 'x' }, 'invalid_grant', 4],
  ])('%s has its own code', async (_what, parameters, code, exit) => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const ran = await runLogin(host, ['-o', 'json'], { visit: (url) => answerWith(url, parameters) });
    expect(ran).toMatchObject({ code: exit, out: '' });
    expect(ran.error()).toMatchObject({ code, exit_code: exit });
    expectGolden('auth', stableText(ran, /^\{"error":/));
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).toBeUndefined();
  });

  it('with another state exchanges nothing and shows nothing of it', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const ran = await runLogin(host, [], {
      visit: (url) => answerWith(url, { code: 'x', state: 'foreign', error_description: 'hunter2' }),
    });
    expect(ran.code).toBe(4);
    expectGolden('auth', stableText(ran, /^(error|detail|hint): /));
    expect(ran.err).not.toContain('hunter2');
    expect(await recordedRequests(sandbox)).not.toContain('POST /v1/oauth/token');
  });

  it('with a wrong client secret is invalid_client', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, {
      env: { ...sandboxEnvironment(sandbox), CLOUDCTL_CLIENT_SECRET: 'wrong' },
    });
    const ran = await runLogin(host, ['-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'invalid_client', hint: expect.stringContaining('auth setup') });
  });

  it('whose time is over says where to look', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const ran = await runCloudctl(host, ['auth', 'login', '--login-timeout', '1s', '-o', 'json']);
    expect(ran.code).toBe(4);
    expect(ran.error()).toMatchObject({ code: 'login_timeout', hint: expect.stringContaining('--login-timeout 15m') });
    expectGolden('auth', stableText(ran, /^\{"error":/));
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('interrupted by %s ends with %d and frees its port', async (signal, exit) => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const started = startCloudctl(host, ['auth', 'login']);
    await started.waitForOutput(/Waiting/);
    await expect.poll(() => started.host.signal(signal)).toBeGreaterThan(0);
    expect((await started.ended).code).toBe(exit);
    const again = createServer().listen(Number(new URL(sandbox.ready.callback_url).port), '127.0.0.1');
    onTestFinished(() => void again.close());
    await new Promise((resolve, reject) => again.once('listening', resolve).once('error', reject));
  });

  it('while another is running is refused at once, and the other goes on', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const first = startCloudctl(host, ['auth', 'login']);
    const [url] = await first.waitForOutput(/http\S+authorize\S+/);
    const second = await runCloudctl(host, ['auth', 'login', '-o', 'json']);
    expect(second.code).toBe(1);
    expect(second.error()).toMatchObject({ code: 'busy' });
    expectGolden('auth', stableText(second));
    await followRedirects(url ?? '');
    expect((await first.ended).code).toBe(0);
  });

  it('on a port that is taken prints no address', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const { port } = new URL(sandbox.ready.callback_url);
    const squatter = createServer().listen(Number(port), '127.0.0.1');
    onTestFinished(() => void squatter.close());
    await new Promise((resolve) => squatter.once('listening', resolve));
    const ran = await runCloudctl(host, ['auth', 'login']);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(port);
    expect(ran.err).not.toContain('authorize?');
    expectGolden('auth', stableText(ran).replaceAll(port, 'PORT'));
  });

  it.each(['locked', 'missing', 'hung'] as const)(
    'with a keychain that is %s is told before the browser is needed',
    async (why) => {
      const sandbox = await sandboxFor();
      const env = { ...sandboxEnvironment(sandbox), CLOUDCTL_CREDENTIAL_STORE: 'keychain' };
      const host = await createSandboxHost(sandbox, { env, keychain: memoryKeychain(new Map(), () => why) });
      const ran = await runCloudctl(host, ['auth', 'login', '-o', 'json']);
      expect(ran.error()).toMatchObject({ code: 'keychain_unavailable', exit_code: 1 });
      expect(ran.err).not.toContain('authorize?');
      expectGolden('auth', stableText(ran));
    },
  );
});

describe('a scope that differs from the one asked for', () => {
  const narrower = (url: string) => followRedirects(url.replace('scope=read%20write', 'scope=read'));

  it('is refused without a terminal: revoked, nothing kept', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const ran = await runLogin(host, ['--scope', 'read write', '-o', 'json'], { visit: narrower });
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({
      code: 'scope_mismatch',
      hint: expect.stringContaining('`cloudctl auth login --scope "read write" --accept-scope`'),
    });
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).toBeUndefined();
    expect(await recordedRequests(sandbox)).toContain('POST /v1/oauth/revoke');
  });

  it('is kept with --accept-scope, and shown', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const ran = await runLogin(host, ['--scope', 'read write', '--accept-scope', '-o', 'json'], { visit: narrower });
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ scope: 'read' });
    expect(await recordedRequests(sandbox)).not.toContain('POST /v1/oauth/revoke');
  });
});

describe('prompt=none', () => {
  it('with the account the browser is signed in to succeeds; with another is login_required', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const hint = userOf(sandbox, TOMAS).uuid.slice(0, 6);
    // A server that does not look at the hint: the account is checked on this side as well.
    const blind = (url: string) => followRedirects(url.replace(/&prompt=none|&i=\w+/g, ''));
    const ran = await runLogin(host, ['--prompt', 'none', '--account-hint', hint, '-o', 'json'], { visit: blind });
    expect(ran.error()).toMatchObject({ code: 'login_required', exit_code: 4 });
    expectGolden(
      'auth',
      stableText(ran, /^\{"error":/)
        .replaceAll(hint, 'HINT')
        .replaceAll(/[0-9a-f]{6}…/g, '6HEX…'),
    );
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).toBeUndefined();
    expect(await recordedRequests(sandbox)).toContain('POST /v1/oauth/revoke');
    const own = userOf(sandbox, MAYA).uuid.slice(0, 6).toUpperCase();
    expect((await runLogin(host, ['--prompt', 'none', '--account-hint', own], { visit: blind })).code).toBe(0);
  });
});

describe('the options of auth login', () => {
  it.each([
    [['--scope', 'admin']],
    [['--scope', '']],
    [['--flow', 'implicit', '--prompt', 'none']],
    [['--flow', 'implicit', '--account-hint', 'abcdef']],
    [['--prompt', 'none', '--account-hint', 'xyz']],
    [['--login-timeout', '5']],
    [['--login-timeout', '0s']],
    [['--auth-url', 'http://cloud.example']],
    [['--base-url', 'https://x.example/v2']],
    [['--profile', 'nope']],
    [['--flow', 'magic']],
  ])('%j are refused before anything is opened or sent', async (words) => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, words[0] === '--profile' ? {} : { env: sandboxEnvironment(sandbox) });
    const ran = await runCloudctl(host, ['auth', 'login', ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('auth', stableText(ran));
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it.each([
    ['CLOUDCTL_AUTH_URL', /auth_url is missing[\s\S]*--auth-url or CLOUDCTL_AUTH_URL/],
    ['CLOUDCTL_CLIENT_ID', /client_id is missing[\s\S]*CLOUDCTL_CLIENT_ID/],
    ['CLOUDCTL_CALLBACK_URL', /callback_urls is missing[\s\S]*CLOUDCTL_CALLBACK_URL/],
    ['CLOUDCTL_CLIENT_SECRET', /client secret is missing[\s\S]*CLOUDCTL_CLIENT_SECRET, or --client-secret-stdin/],
  ])('without %s and without a terminal name option and variable', async (variable, message) => {
    const sandbox = await sandboxFor();
    const ran = await runCloudctl(testHost({ env: { ...sandboxEnvironment(sandbox), [variable]: '' } }), [
      'auth',
      'login',
    ]);
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(message);
  });

  it('let any scope pass with --any-scope', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const started = startCloudctl(host, [
      'auth',
      'login',
      '--scope',
      'admin:all',
      '--any-scope',
      '--login-timeout',
      '1s',
    ]);
    await started.waitForOutput(/scope=admin%3Aall/);
    expect((await started.ended).code).toBe(4);
  });

  it('are not needed under NODE_DEBUG: a login that would be printed is refused', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { ...sandboxEnvironment(sandbox), NODE_DEBUG: 'undici' } });
    const ran = await runCloudctl(host, ['auth', 'login']);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('unset NODE_DEBUG');
  });
});

describe('a standard authorization server', () => {
  it('gets a form with the client credentials, and may name neither account nor scope', async () => {
    const sandbox = await sandboxFor();
    const { origin, seen } = await serverFor((_, response) =>
      reply(response, 200, { access_token: 'at-9', token_type: 'Bearer', expires_in: '3600' }),
    );
    const env = { ...sandboxEnvironment(sandbox), CLOUDCTL_AUTH_URL: origin };
    const host = await createSandboxHost(sandbox, { env });
    const ran = await runLogin(host, ['--token-params', 'body', '-o', 'json'], {
      visit: (url) => answerWith(url, { code: 'c-1' }),
    });
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran, report));
    const form = new URLSearchParams(seen[0]?.body);
    expect(seen[0]?.url).toBe('/v1/oauth/token');
    expect(Object.fromEntries(form)).toMatchObject({
      grant_type: 'authorization_code',
      code: 'c-1',
      client_id: sandbox.ready.client_id,
      client_secret: sandbox.ready.client_secret,
    });
    expect(form.get('code_verifier')).toMatch(/^[\w-]{43}$/);
  });

  it('that needs --no-pkce needs it once: the login is repeated with it after an error, and the profile keeps it', async () => {
    const sandbox = await sandboxFor();
    let scope = 'other';
    const { origin, seen } = await serverFor((_, response) =>
      reply(response, 200, { access_token: 'at-9', token_type: 'Bearer', expires_in: 3600, scope }),
    );
    const host = await createSandboxHost(sandbox, {
      env: { ...sandboxEnvironment(sandbox), CLOUDCTL_AUTH_URL: origin },
    });
    const typed = ['--token-params', 'body', '--no-pkce', '--credential-store', 'file'];
    const visit = (url: string) => answerWith(url, { code: 'c-1' });
    const refused = await runLogin(host, [...typed, '-o', 'json'], { visit });
    expect(refused.error()).toMatchObject({ hint: expect.stringContaining(`auth login ${typed.join(' ')}`) });
    expect(host.readConfig().profiles.get('default')?.pkce).toBeUndefined();
    scope = 'read';
    expect((await runLogin(host, typed, { visit })).code).toBe(0);
    expect(host.readConfig().profiles.get('default')).toMatchObject({ pkce: false, token_params: 'body' });
    expect((await runLogin(host, ['--force'], { visit })).code).toBe(0);
    expect(seen.map(({ body }) => new URLSearchParams(body).has('code_verifier'))).not.toContain(true);
    expect(seen.at(-1)?.url).toBe('/v1/oauth/token');
  });

  it('that answers the exchange with a page is an error that keeps nothing', async () => {
    const sandbox = await sandboxFor();
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, '<html>', { 'content-type': 'text/html' }),
    );
    const host = await createSandboxHost(sandbox, {
      env: { ...sandboxEnvironment(sandbox), CLOUDCTL_AUTH_URL: origin },
    });
    const ran = await runLogin(host, ['-o', 'json'], { visit: (url) => answerWith(url, { code: 'c-1' }) });
    expect(ran.error()).toMatchObject({ code: 'api_error', status: 200 });
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).toBeUndefined();
  });

  it('that gives a record no keychain could hold has it revoked', async () => {
    const sandbox = await sandboxFor();
    const token = 'x'.repeat(1280);
    const { origin, seen } = await serverFor((_, response) =>
      reply(response, 200, { access_token: token, token_type: 'bearer', expires_in: 60, scope: 'read' }),
    );
    const env = { ...sandboxEnvironment(sandbox), CLOUDCTL_AUTH_URL: origin, CLOUDCTL_CREDENTIAL_STORE: 'keychain' };
    const host = await createSandboxHost(sandbox, { env });
    const ran = await runLogin(host, ['-o', 'json'], { visit: (url) => answerWith(url, { code: 'c-1' }) });
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable', message: expect.stringContaining('too long') });
    expect(seen.map(({ url }) => url.split('?')[0])).toEqual(['/v1/oauth/token', '/v1/oauth/revoke']);
    expect(ran.err).not.toContain('xxx');
  });
});

describe('in a terminal', () => {
  it('the browser is asked for a start address, and the authorization URL is printed all the same', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { ...sandboxEnvironment(sandbox), DISPLAY: ':0' } });
    const ran = await runLogin(host, ['--force'], {
      terminal: 80,
      browse: (url) => void followRedirects(url),
      visit: async () => undefined,
    });
    expect(ran.code).toBe(0);
    expect(ran.host.opened).toHaveLength(1);
    expect(ran.host.opened[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/start\/[\w-]+$/);
  });

  it.each([
    ['CI', ['--force'], { CI: 'true' }],
    ['--no-browser', ['--force', '--no-browser'], {}],
  ])('%s opens none', async (_what, words, more) => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { ...sandboxEnvironment(sandbox), DISPLAY: ':0', ...more } });
    const ran = await runLogin(host, words, { terminal: 80, browse: () => undefined });
    expect(ran.code).toBe(0);
    expect(ran.host.opened).toEqual([]);
  });
});

it.each([
  ['denied', 4],
  ['of another account', 4],
])('without a terminal, a login that is %s leaves the valid session as it was', async (how, code) => {
  const sandbox = await sandboxFor();
  const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
  const { grant, stored } = await seedSession(host, sandbox, { user: MAYA });
  await runLogin(host);
  const before = stored()?.accessToken.reveal() ?? grant.access_token;
  const isDenied = how === 'denied';
  await admin(sandbox, 'POST', '/_sandbox/consent', isDenied ? { mode: 'deny' } : { mode: 'approve', user: TOMAS });
  const hint = userOf(sandbox, MAYA).uuid.slice(0, 6);
  const ran = await runLogin(host, isDenied ? [] : ['--account-hint', hint, '--no-browser']);
  expect(ran.code).toBe(code);
  expectGolden('auth', stableText(ran, /^(Profile|error|detail|hint)/).replaceAll(/[0-9a-f]{6}(?=…|`| )/g, '6HEX'));
  expect(stored()?.accessToken.reveal()).toBe(before);
  expect((await callApi(sandbox, before, 'GET', '/v2/actions')).status).toBe(200);
});

it('a new login replaces the session of the profile alone', async () => {
  const sandbox = await sandboxFor();
  const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
  const other = await seedSession(host, sandbox, { profile: 'other' });
  await runLogin(host);
  const first = storedRecord(profilePaths(host.folders.state, 'default'));
  await runLogin(host);
  const second = storedRecord(profilePaths(host.folders.state, 'default'));
  expect(second?.sid).not.toBe(first?.sid);
  expect(second?.journalKey.reveal()).not.toBe(first?.journalKey.reveal());
  expect(other.stored()?.accessToken.reveal()).toBe(other.grant.access_token);
  expect(readFileSync(join(host.folders.config, 'accounts', 'default.json'), 'utf8')).toContain(second?.sid);
});

/** The redirect as a browser would make it, with these parameters and the state that was sent. */
function answerWith(url: string, parameters: Readonly<Record<string, string>>): Promise<unknown> {
  const { searchParams } = new URL(url);
  const target = new URL(searchParams.get('redirect_uri') ?? '');
  const answer = { state: searchParams.get('state') ?? '', ...parameters };
  for (const [name, value] of Object.entries(answer)) target.searchParams.set(name, value);
  return followRedirects(target.href);
}

describe('logging in again', () => {
  /** A machine that is logged in with this scope, and whose profile names another. */
  async function loggedIn(scope: string, values: object = {}) {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    const seeded = await seedSession(host, sandbox, { scope, user: MAYA, context: 'personal', values });
    return { sandbox, host, ...seeded };
  }

  it.each([
    ['read write', {}, [], 'read write'],
    ['read write', { scope: 'read' }, [], 'read write'],
    ['read', { scope: 'read write' }, [], 'read'],
    ['read write', {}, ['--scope', 'read'], 'read'],
  ])('with the scope %s and the profile %j, and %j, requests %s', async (scope, values, words, expected) => {
    const { host, stored } = await loggedIn(scope, values);
    expect((await runLogin(host, [...words])).code).toBe(0);
    expect(stored()).toMatchObject({ scope: expected, gen: 1 });
  });

  it('revokes the tokens of the session that it replaced', async () => {
    const { sandbox, host, grant, stored } = await loggedIn('read');
    expect((await runLogin(host)).code).toBe(0);
    expect(sandbox.world.grants.pair(grant.access_token)?.end).toBe('revoked');
    const token = stored()?.accessToken.reveal() ?? '';
    expect((await callApi(sandbox, token, 'GET', '/v2/actions')).status).toBe(200);
  });

  it('with --team stores only a session of that context', async () => {
    const { host, stored, record } = await loggedIn('read');
    const other = await runLogin(host, ['--team', '0f0e0d0c-0b0a-4908-8706-050403020100']);
    expect(other.code).toBe(4);
    expect(stored()?.sid).toBe(record.sid);
    expect((await runLogin(host, ['--team', 'personal'])).code).toBe(0);
    expect((await runCloudctl(host, ['auth', 'login', '--team', 'mine'])).code).toBe(2);
  });
});

describe('a server that cannot be reached', () => {
  it.each(['default', 'sandbox'])('ends the login of profile %s at once, with its name', async (profile) => {
    const sandbox = await sandboxFor();
    const host = testHost();
    await seedSession(host, sandbox, { profile, values: { auth_url: await closedOrigin() } });
    const env = { ...host.env, CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret };
    const ran = await runCloudctl({ ...host, env }, ['auth', 'login', '--force', '--profile', profile]);
    expect(ran.code).toBe(6);
    expect(ran.err).not.toMatch(authorizationLine);
    const lines = ran.err.split('\n').filter((line) => /^(error|detail|hint)/.test(line));
    expectGolden('auth', lines.join('\n').replaceAll(/127\.0\.0\.1:\d+/g, 'SERVER'));
  });
});

it.each([
  [2, [], {}],
  [6, ['--no-browser'], {}],
  [6, [], { BROWSER: '/usr/bin/firefox' }],
] as const)('under CI without a terminal: exit %i with %j and %j', async (code, words, more) => {
  const sandbox = await sandboxFor();
  const host = testHost();
  await seedSession(host, sandbox, { values: { auth_url: await closedOrigin() } });
  const env = { ...host.env, CI: 'true', CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret, ...more };
  const ran = await runCloudctl({ ...host, env }, ['auth', 'login', '--force', ...words]);
  expect(ran.code).toBe(code);
  if (code === 2) expect(ran.err).toContain('CLOUDCTL_ACCESS_TOKEN');
});

describe('with --no-input and without a terminal', () => {
  it.each<[string, readonly string[], Readonly<Record<string, string>>, number]>([
    ['ends at once', [], {}, 2],
    ['ends at once under CI', [], { CI: 'true' }, 2],
    ['ends at once with an empty BROWSER', [], { BROWSER: ' ' }, 2],
    ['ends at once with BROWSER=none', [], { BROWSER: 'none', DISPLAY: ':0' }, 2],
    ['ends at once with a display', [], { DISPLAY: ':0' }, 2],
    [
      'ends at once for a listener of a container',
      ['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/32'],
      { BROWSER: 'firefox' },
      2,
    ],
    ['goes on with --no-browser', ['--no-browser'], {}, 6],
    ['reads CODE STATE with --paste', ['--paste'], {}, 4],
    ['goes on with BROWSER', [], { BROWSER: 'firefox' }, 4],
    ['goes on with BROWSER under CI', [], { BROWSER: 'firefox', CI: 'true' }, 4],
  ])('%s', async (_, words, more, code) => {
    const sandbox = await sandboxFor();
    const host = testHost();
    await seedSession(host, sandbox, code === 4 ? {} : { values: { auth_url: await closedOrigin() } });
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'deny' });
    const env = { ...host.env, CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret, ...more };
    const ran = await runCloudctl({ ...host, env }, ['auth', 'login', '--force', '--no-input', ...words], {
      browse: (url) => void followRedirects(url),
      stdin: 'the-code the-state\n',
    });
    expect(ran.code).toBe(code);
    expect(ran.host.opened).toHaveLength('BROWSER' in more && code === 4 ? 1 : 0);
    if (words.length === 0 && Object.keys(more).length === 0) expectGolden('auth', ran.err);
    else if (code === 2) expect(ran.err).toMatch(/--no-browser\b[\s\S]*--paste\b/);
  });

  it('ends at once when BROWSER cannot be started', async () => {
    const sandbox = await sandboxFor();
    const host = testHost();
    await seedSession(host, sandbox);
    const env = { ...host.env, CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret, BROWSER: '/nowhere' };
    const ran = await runCloudctl({ ...host, env }, ['auth', 'login', '--force', '--no-input', '-o', 'json']);
    expect([ran.code, ran.error().code]).toEqual([2, 'usage']);
  });
});

it.each([
  ['of other servers', { authOrigin: 'https://auth.example', baseOrigin: 'https://api.example' }],
  ['of other servers that has expired', { authOrigin: 'https://auth.example', expiresAt: 1 }],
] as const)('names a session %s, whose tokens the login does not revoke', async (_, record) => {
  const sandbox = await sandboxFor();
  const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
  const { place, record: stored } = await seedSession(host, sandbox, { record });
  const { refreshToken: _none, ...withoutRefresh } = stored;
  if ('expiresAt' in record)
    await createFileStore(place).withItems((items) => items.write('credential', encodeRecord(withoutRefresh)));
  const ran = await runLogin(host);
  expect(ran.code).toBe(0);
  const warnings = ran.err.split('\n').filter((line) => line.startsWith('warning: '));
  expect(warnings).toHaveLength('baseOrigin' in record ? 1 : 0);
  expectGolden('auth', warnings.join('\n').replaceAll(sandbox.ready.client_id, 'CLIENT'));
});

it('names a session that cannot be read', async () => {
  const sandbox = await sandboxFor();
  const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
  const { place } = await seedSession(host, sandbox);
  writeFileSync(place.credentialFile, '{"from": "a newer version"}\n', { mode: 0o600 });
  const ran = await runLogin(host);
  expect(ran.code).toBe(0);
  const warnings = ran.err.split('\n').filter((line) => line.startsWith('warning: '));
  expectGolden('auth', warnings.join('\n'));
});

describe('a login with the account of another profile', () => {
  it.each([
    ['the same scope', [], ['--scope', 'read'], true],
    ['another scope', [], ['--scope', 'read write'], false],
    [
      'another scope, when the account was to be chosen',
      ['--prompt', 'select_account'],
      ['--scope', 'read write'],
      true,
    ],
  ])('and %s: %j %j is told: %s', async (_what, prompt, scope, isTold) => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    const { raw } = host.readConfig();
    host.writeConfig({ ...raw, profiles: { default: profileOf(sandbox), second: profileOf(sandbox) } });
    const first = await runLogin(host, ['--scope', 'read']);
    expect(first).toMatchObject({ code: 0 });
    expect(first.err).not.toContain('warning:');
    const ran = await runLogin(host, ['--profile', 'second', ...prompt, ...scope]);
    expect(ran.code).toBe(0);
    expect(/^warning: .*\bdefault\b/m.test(ran.err)).toBe(isTold);
    // Another account, or another profile that has logged out, is none.
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: TOMAS });
    expect((await runLogin(host, ['--profile', 'second', ...prompt, ...scope])).err).not.toMatch(
      /^warning: .*default/m,
    );
  });
});
