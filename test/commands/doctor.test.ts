import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DoctorReport } from '../../src/auth/doctor/finding.ts';
import { encodeRecord } from '../../src/auth/session/record.ts';
import { createFileStore } from '../../src/auth/session/store.ts';
import { runCliCommandLine } from '../../src/main.ts';
import { tryAcquire } from '../../src/platform/locks.ts';
import { closedOrigin } from '../fixtures/fake-server.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { profileOf, seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { createSandboxHost, runCloudctl, runLogin, stableText } from './run-cloudctl.ts';

const secrets = { CLOUDCTL_CLIENT_SECRET: 'a secret of the test' };

describe('cloudctl doctor', () => {
  async function report(host: TestHost, words: readonly string[] = [], env = {}) {
    const ran = await runCloudctl(host, ['doctor', '-o', 'json', ...words], { env });
    const { ok, findings } = ran.json<DoctorReport>();
    expect(ran.code).toBe(ok ? 0 : 1);
    return { ran, status: Object.fromEntries(findings.map(({ id, status }) => [id, status])), findings };
  }

  test('a machine on which a login works: everything is in order but the browser and the session', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: secrets });
    const { ran, status } = await report(host);
    const port = new URL(sandbox.ready.callback_url).port;
    expect(status).toEqual({
      config: 'ok',
      path: 'ok',
      profile: 'ok',
      environment: 'ok',
      surroundings: expect.any(String),
      browser: 'warning',
      'state-folder': 'ok',
      [host.readConfig().profiles.get('default')?.credential_store === 'file' ? 'credential-file' : 'keychain']: 'ok',
      'client-secret': 'ok',
      session: 'warning',
      'auth-url': 'ok',
      clock: 'ok',
      'base-url': 'ok',
      'clock-of-base-url': 'ok',
      [`port-${port}`]: 'ok',
    });
    expect(ran.out + ran.err).not.toContain(secrets.CLOUDCTL_CLIENT_SECRET);
  });

  test('after a login the session is told', async () => {
    const sandbox = await sandboxFor();
    const env = { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret };
    const host = await createSandboxHost(sandbox, { env });
    expect((await runLogin(host)).code).toBe(0);
    const { findings } = await report(host);
    expect(findings.find(({ id }) => id === 'session')).toMatchObject({
      status: 'ok',
      observed: expect.stringMatching(/^valid, until \d{4}-/),
    });
  });

  test.each([
    ['sandbox', 'start the sandbox: `cloudctl sandbox start`'],
    ['second', 'check the network and the address with `cloudctl config list --profile second`'],
  ])('of servers that cannot be reached profile %s has the hint of any other command', async (profile, hint) => {
    const origin = await closedOrigin();
    const host = testHost();
    await seedSession(host, await sandboxFor(), {
      profile,
      values: { auth_url: origin, base_url: origin },
      record: { authOrigin: origin, baseOrigin: origin },
    });
    const ran = await runCloudctl(host, ['doctor', '--profile', profile, '-o', 'json']);
    const found = ran.json<DoctorReport>().findings.filter(({ id }) => id === 'auth-url' || id === 'base-url');
    expect(found.map((one) => one.hint)).toEqual([hint, hint]);
    expect((await runCloudctl(host, ['droplets', 'list', '--profile', profile, '-o', 'json'])).error().hint).toBe(hint);
  });

  test('a lock that another process holds is reported, and is not a failure', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { place } = await seedSession(host, sandbox);
    const observed = async () => (await report(host)).findings.find(({ id }) => id === 'state-folder');
    const works = `${place.folder}: locks work`;
    expect(await observed()).toEqual({ id: 'state-folder', status: 'ok', observed: works });
    const held = tryAcquire(place.lock);
    onTestFinished(() => held?.release());
    expect(await observed()).toMatchObject({
      status: 'ok',
      observed: expect.stringMatching(/locks work; ./),
    });
  });

  test('a session that has ended is had again with its own scope', async () => {
    const [host, sandbox] = [testHost({ env: secrets }), await sandboxFor()];
    const { record, place } = await seedSession(host, sandbox, { scope: 'read write' });
    const { refreshToken: _none, ...bare } = record;
    await createFileStore(place).withItems((items) => items.write('credential', encodeRecord(bare)));
    host.clock.advance(31 * 86_400_000);
    const findings = (await runCloudctl(host, ['doctor', '-o', 'json'])).json<DoctorReport>().findings;
    expect(findings.find(({ id }) => id === 'session')).toMatchObject({
      status: 'warning',
      hint: expect.stringContaining('--scope "read write"'),
    });
  });

  test('a port that another process uses is a failure', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: secrets });
    const port = Number(new URL(sandbox.ready.callback_url).port);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { ran, status } = await report(host);
      expect(status[`port-${port}`]).toBe('failed');
      expect(ran.err).toContain(`port-${port}`);
      expectGolden('doctor', stableText(ran));
    } finally {
      server.close();
    }
  });

  test('a hazard of the environment would stop a login', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { ...secrets, NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
    expect((await report(host)).status.environment).toBe('failed');
  });

  test('without a client secret a login would stop', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox);
    expect((await report(host)).status['client-secret']).toBe('failed');
  });

  test('a keychain that does not answer is told apart from a session that is not there', async () => {
    const sandbox = await sandboxFor();
    const host = testHost({
      env: secrets,
      keychain: {
        open: () => ({
          read: async () => hung,
          write: async () => hung,
          remove: async () => hung,
          close: async () => {},
        }),
      },
    });
    host.writeConfig({
      current: 'default',
      profiles: { default: { ...profileOf(sandbox), credential_store: 'keychain' } },
    });
    const { status } = await report(host);
    expect(status).toMatchObject({
      keychain: 'failed',
      'client-secret': 'skipped',
      session: 'skipped',
      'auth-url': 'ok',
    });
  });

  test('a machine where nothing is set up is told what to do', async () => {
    const { status, findings } = await report(testHost());
    expect(status).toMatchObject({ config: 'ok', profile: 'failed' });
    expect(findings.find(({ id }) => id === 'profile')?.hint).toContain('cloudctl auth setup');
  });

  test('a damaged configuration is a finding with its line', async () => {
    const host = testHost();
    host.writeConfig('{"profiles": }');
    const { findings } = await report(host);
    const status = Object.fromEntries(findings.map((one) => [one.id, one.status]));
    // The checks that need no profile still run.
    expect(status).toMatchObject({ profile: 'skipped', environment: 'ok', 'state-folder': 'ok' });
    expect(findings[0]).toMatchObject({
      id: 'config',
      status: 'failed',
      observed: expect.stringMatching(/config\.json:1:/),
    });
  });

  const invalid = {
    CLOUDCTL_BASE_URL: 'http://api.example.com',
    CLOUDCTL_AUTH_URL: 'https://me:canary@cloud.example.com',
    CLOUDCTL_CALLBACK_URL: 'http://192.0.2.1/cb',
    CLOUDCTL_SCOPE: 'read "write',
    CLOUDCTL_FLOW: 'device',
    CLOUDCTL_TOKEN_PARAMS: 'cookie',
    CLOUDCTL_CREDENTIAL_STORE: 'paper',
    CLOUDCTL_OUTPUT: 'xml',
    CLOUDCTL_PROFILE: 'Not A Name',
    CLOUDCTL_ACCESS_TOKEN: 'a canary of two lines\nor more',
  };

  test.each(Object.entries(invalid))(
    '%s that is not valid is a finding, and every other check runs',
    async (name, value) => {
      const host = await createSandboxHost(await sandboxFor(), { env: secrets });
      const { status, findings, ran } = await report(host, [], { ...secrets, [name]: value });
      expect(status[name]).toBe('failed');
      expect(status).toMatchObject({ config: 'ok', 'auth-url': 'ok', 'base-url': 'ok', 'client-secret': 'ok' });
      expect(findings.find(({ id }) => id === name)?.hint).toContain(name);
      expect(ran.out + ran.err).not.toContain('canary');
    },
  );

  test('all of them are findings at once, and the first line of the text names them', async () => {
    const host = await createSandboxHost(await sandboxFor(), { env: secrets });
    const env = { ...secrets, ...invalid, HTTPS_PROXY: 'ftp://me:canary@proxy' };
    const ran = await runCloudctl(host, ['doctor'], { env, terminal: 200 });
    expect(ran.code).toBe(1);
    const [first = ''] = ran.out.split('\n\n');
    for (const name of Object.keys(invalid)) expect(first).toContain(name);
    expect(ran.out + ran.err).not.toContain('canary');
  });

  test('a proxy that is not valid is a finding, and nothing is requested through it', async () => {
    const host = await createSandboxHost(await sandboxFor(), { env: secrets });
    const urls = { CLOUDCTL_BASE_URL: 'https://api.invalid', CLOUDCTL_AUTH_URL: 'https://cloud.invalid' };
    const proxy = { HTTPS_PROXY: 'ftp://me:canary@proxy' };
    const { status, ran } = await report(host, [], { ...secrets, ...urls, ...proxy });
    expect(status).toMatchObject({ proxy: 'failed', 'auth-url': 'skipped', 'base-url': 'skipped' });
    expect(ran.out + ran.err).not.toContain('canary');
  });

  test('a profile of CLOUDCTL_PROFILE or config.json that is not there is a finding', async () => {
    const host = await createSandboxHost(await sandboxFor(), { env: secrets });
    expect((await report(host, [], { ...secrets, CLOUDCTL_PROFILE: 'nobody' })).status.profile).toBe('failed');
    host.writeConfig({ current: 'nobody', profiles: {} });
    const { status } = await report(host);
    expect(status).toMatchObject({ config: 'ok', profile: 'failed', 'state-folder': 'ok' });
  });

  test('without a home folder each check says so', async () => {
    const host = testHost();
    const none = '/nonexistent/cloudctl-no-home/';
    const folders = { config: `${none}config`, state: `${none}state` };
    expect(await runCliCommandLine(['doctor', '-o', 'json'], { ...host, folders })).toBe(1);
    const { findings } = host.json<DoctorReport>();
    const status = Object.fromEntries(findings.map((one) => [one.id, one.status]));
    expect(status).toMatchObject({ config: 'failed', environment: 'ok', browser: 'warning', 'state-folder': 'failed' });
  });

  test('CLOUDCTL_OUTPUT counts although another variable is not valid', async () => {
    const env = { CLOUDCTL_OUTPUT: 'json', CLOUDCTL_BASE_URL: 'x' };
    expect((await runCloudctl(testHost(), ['doctor'], { env })).json<DoctorReport>().ok).toBe(false);
  });

  test('an option that is not valid is exit 2, as for every command', async () => {
    expect(await runCloudctl(testHost(), ['doctor', '--base-url', 'x'])).toMatchObject({ code: 2, out: '' });
  });

  test('is never paged', async () => {
    const here = testHost({ env: { PAGER: 'less' } });
    // The pager of the test host throws.
    const stdout = { ...here.stdout, isTTY: true, columns: 80, rows: 3 };
    for (const words of [[], ['--format', 'ID,Status'], ['-o', 'yaml']])
      expect(await runCliCommandLine(['doctor', ...words], { ...here, stdout })).toBe(1);
  });

  test('an unknown profile is exit 2', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox);
    expect(await runCloudctl(host, ['doctor', '--profile', 'nobody'])).toMatchObject({ code: 2, out: '' });
  });

  test('the text output has each finding, and the whole hint below it', async () => {
    const ran = await runCloudctl(await createSandboxHost(await sandboxFor()), ['doctor'], { terminal: 40 });
    expect(ran.code).toBe(1);
    const lines = ran.out.split('\n');
    const at = lines.findIndex((line) => line.startsWith('failed'));
    expect(lines[at]).toContain('client-secret');
    const end = lines.findIndex((line, index) => index > at && !line.startsWith(' '));
    const finding = lines.slice(at, end);
    // A command stays in one line, even where that is longer than the terminal.
    expect(finding.join('\n')).toContain('`cloudctl auth setup --profile default`');
    expectGolden('doctor', finding.join('\n'));
  });

  test('a path that is longer than the column has a line of its own below the finding', async () => {
    const host = await createSandboxHost(await sandboxFor());
    const path = join(host.folders.state, 'sessions');
    const terminal = path.length + 10;
    const ran = await runCloudctl(host, ['doctor'], { terminal });
    const lines = ran.out.split('\n').filter((line) => line.includes(path));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(terminal);
  });

  test('--format picks columns in JSON as well, and a query sees the whole report', async () => {
    const host = await createSandboxHost(await sandboxFor(), { env: secrets });
    const picked = await runCloudctl(host, ['doctor', '-o', 'json', '--format', 'ID,Status']);
    expect(picked.json<object[]>()[0]).toEqual({ ID: 'config', Status: 'ok' });
    const queried = await runCloudctl(host, ['doctor', '-o', 'json', '--query', "findings[?status=='failed'].id"]);
    expect(queried.json()).toEqual([]);
  });

  test('--format picks columns', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: secrets });
    const ran = await runCloudctl(host, ['doctor', '--format', 'ID,Status']);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/^auth-url +ok$/m);
    expectGolden('doctor', stableText(ran));
  });
});

const hung = { kind: 'unavailable', why: 'hung', reason: 'the keychain did not answer within 3 s' } as const;
