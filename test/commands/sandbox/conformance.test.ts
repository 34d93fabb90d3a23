import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConformanceReport } from '../../../src/conformance/conformance-report.ts';
import { closedOrigin, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { junitErrors, parseXml } from '../../preflight/formats/junit-schema.ts';
import { sandboxFor, tokenFor } from '../../sandbox/requests.ts';
import { runCloudctl, sandboxEnvironment } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

const words = ['sandbox', 'conformance'];

async function hostOfSandbox(env: Readonly<Record<string, string>> = {}): Promise<TestHost> {
  const sandbox = await sandboxFor();
  return testHost({ env: { ...sandboxEnvironment(sandbox), ...env } });
}

describe('the running sandbox', () => {
  it('is tested as a whole by its profile: exit 0, nothing differs, reports in both formats', async () => {
    const host = testHost();
    await startSandboxCommand(host);
    const files = ['report.json', 'report.xml'].map((name) => join(host.place.home, name));
    const reports = files.flatMap((file) => ['--report', file]);
    const ran = await runCloudctl(host, ['--profile', 'sandbox', ...words, '--allow-writes', '-o', 'json', ...reports]);
    expect(ran.code).toBe(0);
    const report = ran.json<ConformanceReport>();
    expect(report).toMatchObject({ ok: true, writes: true, left: [], counts: { differs: 0 } });
    expect(report.counts.holds).toBeGreaterThan(100);
    expect(JSON.parse(readFileSync(files[0] ?? '', 'utf8'))).toEqual(report);
    const xml = readFileSync(files[1] ?? '', 'utf8');
    expect(junitErrors(xml)).toEqual([]);
    expect(parseXml(xml).attributes).toMatchObject({ failures: '0', tests: String(report.results.length) });
    expectGolden('sandbox', withoutProgress(ran.err));
  });

  it('without --allow-writes, most statements are not testable', async () => {
    const host = testHost();
    await startSandboxCommand(host);
    const ran = await runCloudctl(host, ['--profile', 'sandbox', ...words, '-o', 'json']);
    expect(ran.code).toBe(0);
    const { counts, writes } = ran.json<ConformanceReport>();
    expect([writes, counts.differs]).toEqual([false, 0]);
    expect(counts.not_testable).toBeGreaterThan(counts.holds);
  });
});

it('a table row has id, section, status, statement and detail', async () => {
  const host = await hostOfSandbox();
  const ran = await runCloudctl(host, [...words, '-o', 'csv']);
  expect(ran.out).toMatch(/^ID,Section,Status,Statement,Detail\r\n/);
  expect(ran.out).toMatch(/^59,4\.1,holds,/m);
  expect(ran.out).toMatch(/^unknown-token-status,7,open_choice,.*404 not_found/m);
});

it('a session or a token is never revoked or used up by statements that need other tokens', async () => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const host = testHost({ env: { ...sandboxEnvironment(sandbox), CLOUDCTL_ACCESS_TOKEN: access_token } });
  const ran = await runCloudctl(host, [...words, '--allow-writes', '-o', 'json']);
  expect(ran.code).toBe(0);
  const pair = sandbox.world.pair(access_token);
  expect(pair === undefined ? undefined : sandbox.world.pairState(pair)).toBe('valid');
  expect(sandbox.world.droplets(pair?.person ?? '').some(({ name }) => name.startsWith('conformance'))).toBe(false);
});

it('a server that breaks statements: exit 3 with their numbers, and nothing of its text controls the terminal', async () => {
  const hostile = '\u001b[2J\u202e<p>hello</p>';
  const server = await serverFor((_, response) => reply(response, 200, hostile, { 'content-type': 'text/html' }));
  const env = { CLOUDCTL_CLIENT_ID: 'a-client', CLOUDCTL_CALLBACK_URL: 'http://127.0.0.1:8765/callback' };
  const host = testHost({ env });
  const ran = await runCloudctl(host, [...words, '--auth-url', server.origin, '--base-url', server.origin]);
  expect(ran.code).toBe(3);
  expect(ran.out).toContain('hello');
  expect(`${ran.out}${ran.err}`).not.toMatch(/[\u001b\u202e]/);
  expectGolden('sandbox', withoutProgress(ran.err).replaceAll(server.origin, 'SERVER'));
});

it('a server that is not there: exit 6', async () => {
  const gone = await closedOrigin();
  const ran = await runCloudctl(testHost(), [...words, '--auth-url', gone, '--base-url', gone, '-o', 'json']);
  expect(ran).toMatchObject({ code: 6, out: '' });
  expect(ran.error()).toMatchObject({ code: 'unreachable' });
});

describe('usage', () => {
  it.each([
    ['no server', []],
    ['a report of another format', ['--report', 'report.txt']],
    ['a cluster that is no UUID', ['--cluster', 'orders']],
    ['--browser without --allow-writes', ['--browser']],
    ['a callback URL without a fixed port', []],
    ['an unknown column', ['--format', 'Colour']],
    ['an admin URL without its token', ['--admin-url', 'http://127.0.0.1:8080']],
  ] as const)('%s: exit 2 before a statement is played', async (name, more) => {
    const callback = name === 'a callback URL without a fixed port' ? 'http://127.0.0.1:0/callback' : undefined;
    const env = callback === undefined ? {} : { CLOUDCTL_CALLBACK_URL: callback };
    const host = name === 'no server' ? testHost() : await hostOfSandbox(env);
    const ran = await runCloudctl(host, [...words, ...more, '-o', name === 'an unknown column' ? 'table' : 'json']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('sandbox', ran.err);
  });
});

/** How often progress is printed depends on the speed of the machine. */
function withoutProgress(text: string): string {
  return text.replaceAll(/^\d+ of \d+ statements tested\n/gm, '');
}
