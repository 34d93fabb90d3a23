import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { encodeRecord } from '../../src/auth/session/record.ts';
import { createFileStore } from '../../src/auth/session/store.ts';
import { forgetSandbox, lastSandbox, recordSandbox } from '../../src/config/sandboxes.ts';
import { pathOfRecord, writeRecord } from '../../src/db/watch/record.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import { closedOrigin, reply, serverFor } from '../fixtures/fake-server.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { memoryKeychain, type TestHost, testHost } from '../fixtures/host.ts';
import { type Seeded, seedSession } from '../fixtures/session.ts';
import { admin, sandboxFor } from '../sandbox/requests.ts';
import { machineWithBatch } from './droplets/batches/batches.ts';
import { createSandboxHost, recordedRequests, runCloudctl, runLogin, stableText } from './run-cloudctl.ts';
import { startSandboxCommand } from './sandbox/start-sandbox.ts';

interface Shown {
  readonly profile: string;
  readonly state: string;
  readonly email?: string;
  readonly days_left?: number | null;
  readonly actions_in_progress?: readonly { readonly status: string }[];
  readonly problem?: string;
  readonly next: string;
}

const shownBy = async (host: TestHost, words: readonly string[] = [], env = {}) =>
  (await runCloudctl(host, [...words, '-o', 'json'], { env: { ...host.env, ...env } })).json<Shown>();

async function loggedIn(): Promise<{ readonly host: TestHost; readonly sandbox: SandboxServers }> {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  await seedSession(host, sandbox, { context: 'team' });
  // In the middle of a day of the session, so that whole days are counted alike at every second.
  host.clock.advance(day / 2);
  return { host, sandbox };
}

const day = 86_400_000;
const createWords = 'droplets create wait-1 --size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3'.split(' ');

async function removeRefreshToken({ record, place }: Seeded): Promise<void> {
  const { refreshToken: _none, ...bare } = record;
  await createFileStore(place).withItems((items) => items.write('credential', encodeRecord(bare)));
}

it('without a profile it is a start page, and nothing is requested', async () => {
  const ran = await runCloudctl(testHost(), []);
  expect(ran.code).toBe(0);
  expectGolden('overview', ran.out + ran.err);
});

it.each([true, false])(
  'while a sandbox runs (%s), the start page names its login, else its start',
  async (isRunning) => {
    const host = testHost();
    await startSandboxCommand(host, ['--consent', 'approve maya@example.com']);
    if (!isRunning) {
      // As after `kill -9`: the record and the profile stay.
      const place = lastSandbox(host.folders.state);
      const dead = await closedOrigin();
      if (place !== undefined) {
        forgetSandbox(host.folders.state, place);
        recordSandbox(host.folders.state, { ...place, auth_url: dead, admin_url: dead });
      }
      host.writeConfig({ profiles: { sandbox: { auth_url: dead } } });
    }
    const ran = await runCloudctl(host, []);
    expect(ran.code).toBe(0);
    expectGolden('overview', ran.err);
    if (isRunning) expect((await runLogin(host, ['--profile', 'sandbox'])).code).toBe(0);
  },
);

it('a profile without a session names the login', async () => {
  const sandbox = await sandboxFor();
  const host = await createSandboxHost(sandbox);
  expect(await shownBy(host)).toEqual({ profile: 'default', state: 'logged_out', next: 'cloudctl auth login' });
  expect(await recordedRequests(sandbox)).toEqual([]);
});

it('a session is shown with its account and what is in progress, for a person and for a program', async () => {
  const { host } = await loggedIn();
  expect(await shownBy(host)).toMatchObject({ state: 'valid', days_left: 29, actions_in_progress: [] });
  await runCloudctl(host, createWords);
  const shown = await shownBy(host);
  expect(shown.actions_in_progress?.map(({ status }) => status)).toEqual(['in-progress']);
  expect(shown.next).toMatch(/^cloudctl actions list --status in-progress --watch$/);
  for (const terminal of [undefined, 80]) {
    const ran = await runCloudctl(
      host,
      [],
      terminal === undefined ? {} : { terminal, env: { ...host.env, NO_COLOR: '1' } },
    );
    expect(ran.code).toBe(0);
    const text = (ran.out + stableText(ran))
      .replace(/\b4\d{8}\b/g, '4NNNNNNNN')
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID')
      .replace(/\d{4}-\d\d-\d\dT\S+/g, 'DATE')
      // 30 days are 29 after the first second.
      .replace(/\b(29|30) d left/, 'N d left');
    expectGolden('overview', text, terminal === undefined ? 'piped' : 'terminal');
  }
});

it('columns and queries select parts of it', async () => {
  const { host } = await loggedIn();
  expect((await runCloudctl(host, ['--format', 'DaysLeft', '--no-header'])).out).toBe('29\n');
  expect((await runCloudctl(host, ['--query', 'state'])).out).toBe('valid\n');
  expect((await runCloudctl(host, ['--format', 'Nope'])).code).toBe(2);
});

it('a batch that was interrupted is resumed next', async () => {
  const { host, ledger } = await machineWithBatch(['a', 'b']);
  // What a killed run leaves: the names, and nothing of what became of them.
  writeFileSync(ledger, `${readFileSync(ledger, 'utf8').split('\n', 1)[0]}\n`);
  expect((await shownBy(host)).next).toBe(`cloudctl droplets create --resume ${ledger}`);
});

it.each([
  ['an expired session', 29.5 * day, 'expired'],
  ['a session for a few minutes', 29.5 * day - 120_000, 'expires_soon'],
])('%s is not refreshed', async (_, passed, state) => {
  const { host, sandbox } = await loggedIn();
  host.clock.advance(passed);
  expect(await shownBy(host)).toMatchObject({ state, days_left: 0 });
  expect((await recordedRequests(sandbox)).filter((line) => line.includes('/v1/oauth/'))).toEqual([]);
});

it('a session without a refresh token that has ended names the login', async () => {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  await removeRefreshToken(await seedSession(host, sandbox));
  host.clock.advance(31 * day);
  expect(await shownBy(host)).toMatchObject({
    state: 'needs_login',
    next: expect.stringMatching(/^cloudctl auth login/),
  });
});

it('a token that the server takes for expired is not shown as valid, and the named command renews it', async () => {
  const { host, sandbox } = await loggedIn();
  await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '+31d' });
  expect(await shownBy(host)).toMatchObject({ state: 'refused', next: 'cloudctl auth refresh' });
  expect((await runCloudctl(host, [])).out).not.toContain('valid');
  expect((await runCloudctl(host, ['auth', 'refresh'])).code).toBe(0);
  const renewed = await shownBy(host);
  expect(renewed).toMatchObject({ actions_in_progress: [] });
  expect(renewed).not.toHaveProperty('problem');
});

it('without a profile, the one that is logged in is named and selected next', async () => {
  const host = testHost();
  await startSandboxCommand(host, ['--consent', 'approve maya@example.com']);
  expect((await runLogin(host, ['--profile', 'sandbox'])).code).toBe(0);
  const page = await runCloudctl(host, []);
  expectGolden('overview', page.out + page.err);
  const { next } = await shownBy(host);
  expect((await runCloudctl(host, next.split(' ').slice(1))).code).toBe(0);
  expect(await shownBy(host)).toMatchObject({ profile: 'sandbox', state: 'valid' });
});

it('a token that the server refuses names the login', async () => {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  const { origin } = await serverFor((_, response) => reply(response, 401, { id: 'unauthorized', message: 'no' }));
  const place = await seedSession(host, sandbox, { record: { baseOrigin: origin }, values: { base_url: origin } });
  await removeRefreshToken(place);
  const shown = await shownBy(host);
  expect(shown.problem).toBeDefined();
  expect(shown.next).toMatch(/^cloudctl auth login/);
});

it('a server that is away, or does not answer, leaves the rest of the page', async () => {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  const silent = await serverFor(() => undefined);
  for (const base_url of [await closedOrigin(), silent.origin]) {
    const record = { baseOrigin: base_url };
    await seedSession(host, sandbox, { record, values: { base_url } });
    const shown = await shownBy(host);
    expect(shown).toMatchObject({ state: 'valid', problem: expect.stringContaining(base_url) });
    expect(shown.actions_in_progress).toBeUndefined();
    expect(shown.next).toBe('cloudctl doctor');
    const page = await runCloudctl(host, []);
    expect(page.code).toBe(0);
  }
});

it('text of the server does not control the terminal', async () => {
  const { origin } = await serverFor((_, response) =>
    reply(response, 200, {
      actions: [{ id: 1, status: 'in-progress', type: 'x\u001b]0;title\u0007', started_at: '\u001b[2J' }],
      meta: { total: 1 },
    }),
  );
  const env = { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin };
  const ran = await runCloudctl(testHost({ env }), []);
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.out).toContain('1 in progress');
  expect(ran.out).not.toContain('\u001b');
});

it('a token of the environment is shown with the account that the server names', async () => {
  const sandbox = await sandboxFor();
  const { grant } = await seedSession(testHost(), sandbox, { context: 'personal' });
  const env = { CLOUDCTL_ACCESS_TOKEN: grant.access_token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
  const shown = await shownBy(testHost({ env }));
  expect(shown).toMatchObject({ state: 'token', email: grant.info.email, actions_in_progress: [] });
  const refused = await shownBy(testHost({ env }), [], { CLOUDCTL_ACCESS_TOKEN: 'other' });
  expect(refused).toMatchObject({ state: 'token', next: 'unset CLOUDCTL_ACCESS_TOKEN' });
  expect(refused.problem).toBeDefined();
});

it('a keychain that is locked is not waited for', async () => {
  const sandbox = await sandboxFor();
  const host = testHost({ keychain: memoryKeychain(new Map(), () => 'locked') });
  await seedSession(host, sandbox, { values: { credential_store: 'keychain' } });
  expect(await shownBy(host)).toMatchObject({ state: 'unknown', next: 'cloudctl doctor' });
});

it('an unknown profile is an error', async () => {
  const ran = await runCloudctl(testHost(), ['--profile', 'nope', '-o', 'json']);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.error().code).toBe('profile_unknown');
});

it('names a migration that this machine started and that has not ended, and its command', async () => {
  const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
  let status = 'syncing';
  const { origin } = await serverFor(({ url }, response) =>
    reply(response, 200, url.startsWith('/v2/databases') ? { id: 'm-1', status } : { actions: [], account: {} }),
  );
  const host = testHost({ env: { CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'token' } });
  const source = { engine: 'redis', host: 'h', port: 1 } as const;
  writeRecord(pathOfRecord(host.folders.state, source), {
    engine: 'redis',
    source: 'h:1',
    started: { at: host.clock.now(), cluster, id: 'm-1', identity: {} },
  });
  expect(await shownBy(host)).toMatchObject({
    migrations_in_progress: [{ cluster, id: 'm-1', status }],
    next: `cloudctl db status ${cluster}`,
  });
  expect((await runCloudctl(host, [])).out).toContain(cluster);
  status = 'canceled';
  expect(await shownBy(host)).not.toHaveProperty('migrations_in_progress');
});
