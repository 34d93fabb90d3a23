import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { junitErrors, parseXml } from '../db/preflight/formats/junit-schema.ts';
import { closedOrigin, reply, serverFor } from '../fixtures/fake-server.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { expectSchema } from '../fixtures/output-schemas.ts';
import { sandboxFor, tokenFor } from '../sandbox/requests.ts';
import { main } from './main.ts';
import type { Report } from './report.ts';
import { countSandboxResults } from './tested-server.ts';

async function play(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const folders = makeFolders();
  try {
    const report = join(folders.home, 'report.json');
    const code = await main({
      words: [...words, '--report', report],
      env,
      print: (line) => out.push(line),
      note: (line) => err.push(line),
      signal: new AbortController().signal,
    });
    const json = (): Report => {
      const document: unknown = JSON.parse(text);
      expectSchema('conformance-report-1.json', document);
      return document as Report;
    };
    const text = code === 0 || code === 3 ? readFileSync(report, 'utf8') : '';
    return { code, out: out.join('\n'), err: err.join('\n'), json };
  } finally {
    folders.remove();
  }
}

async function sandboxWords() {
  const { ready, world } = await sandboxFor();
  return {
    world,
    server: ['--auth-url', ready.auth_url, '--base-url', ready.base_url],
    client: ['--client-id', ready.client_id, '--callback-url', ready.callback_url],
    admin: ['--admin-url', ready.admin_url],
    env: { CLOUDCTL_CLIENT_SECRET: ready.client_secret, CLOUDCTL_SANDBOX_ADMIN_TOKEN: ready.admin_token },
  };
}

it('the script tests the sandbox: exit 0, one line for each statement, then the counts', { timeout: 60_000 }, () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/conformance.mjs'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const lines = stdout.trim().split('\n');
  const { holds, differs, open_choice, not_testable } = countSandboxResults();
  expect(lines).toHaveLength(holds + open_choice + not_testable + 1);
  expect(stdout).toMatch(/^59 +\S+ +holds +client_id is required\.$/m);
  expect(stdout).toMatch(/^unknown-token-status +\S+ +open_choice .*404 not_found/m);
  const counts = [...(lines.at(-1) ?? '').matchAll(/\d+/g)].map(Number);
  expect(counts).toEqual([holds, differs, open_choice, not_testable]);
});

describe('another server', () => {
  it('a running sandbox is tested as a whole by its admin URL', async () => {
    const { server, admin, env } = await sandboxWords();
    const ran = await play([...server, ...admin, '--allow-writes'], env);
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ ok: true, writes: true, left: [], counts: countSandboxResults() });
  });

  it('without --allow-writes, most statements are not testable', async () => {
    const { server, admin, env } = await sandboxWords();
    const { counts, writes } = (await play([...server, ...admin], env)).json();
    expect([writes, counts.differs]).toEqual([false, 0]);
    expect(counts.not_testable).toBeGreaterThan(counts.holds);
  });

  it('a token that is given to be read with is never revoked or used up', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const { ready, world } = sandbox;
    const env = { CLOUDCTL_ACCESS_TOKEN: access_token, CLOUDCTL_SANDBOX_ADMIN_TOKEN: ready.admin_token };
    const words = ['--auth-url', ready.auth_url, '--base-url', ready.base_url, '--admin-url', ready.admin_url];
    expect((await play([...words, '--allow-writes'], env)).code).toBe(0);
    const pair = world.grants.pair(access_token);
    expect(pair === undefined ? undefined : world.grants.pairState(pair)).toBe('valid');
    expect(world.droplets.of(pair?.person ?? '').some(({ name }) => name.startsWith('conformance'))).toBe(false);
  });

  it('a client that the server does not know is no difference: its statements are not testable', async () => {
    const { server, client, env } = await sandboxWords();
    const statuses = async (words: readonly string[], secret: string) => {
      const { results } = (await play([...server, ...words], { CLOUDCTL_CLIENT_SECRET: secret })).json();
      expect(results.filter(({ status }) => status === 'differs')).toEqual([]);
      return results.find(({ id }) => id === '59');
    };
    const stranger = ['--client-id', 'unknown', '--callback-url', 'http://127.0.0.1:8765/callback'];
    const noClient = { status: 'not_testable', reason: expect.stringMatching(/\w/) };
    expect(await statuses([], '')).toMatchObject(noClient);
    expect(await statuses(stranger, env.CLOUDCTL_CLIENT_SECRET)).toMatchObject(noClient);
    expect(await statuses(client, 'a-wrong-secret')).toMatchObject(noClient);
    expect(await statuses(client, env.CLOUDCTL_CLIENT_SECRET)).toMatchObject({ status: 'holds' });
  });

  it('that breaks statements: exit 3, and nothing of its text controls the terminal', async () => {
    const hostile = '\u001b[2J\u202e<p>hello</p>';
    const { origin } = await serverFor((_, response) => reply(response, 200, hostile, { 'content-type': 'text/html' }));
    const client = ['--client-id', 'a-client', '--callback-url', 'http://127.0.0.1:8765/callback'];
    const ran = await play(['--auth-url', origin, '--base-url', origin, ...client]);
    expect(ran.code).toBe(3);
    expect(ran.out).toContain('hello');
    expect(`${ran.out}${ran.err}`).not.toMatch(/[\u001b\u202e]/);
  });

  it('that is not there: exit 6, and nothing is played', async () => {
    const gone = await closedOrigin();
    expect(await play(['--auth-url', gone, '--base-url', gone])).toMatchObject({ code: 6, out: '' });
  });
});

it('a report has the format of its name', async () => {
  const folders = makeFolders();
  try {
    const [json, xml] = ['report.json', 'report.xml'].map((name) => join(folders.home, name)) as [string, string];
    expect(await play(['--report', json, '--report', xml])).toMatchObject({ code: 0 });
    const report: Report = JSON.parse(readFileSync(json, 'utf8'));
    const text = readFileSync(xml, 'utf8');
    expect(junitErrors(text)).toEqual([]);
    expect(parseXml(text).attributes).toMatchObject({ failures: '0', tests: String(report.results.length) });
  } finally {
    folders.remove();
  }
});

describe('usage', () => {
  const server = ['--auth-url', 'http://127.0.0.1:8080', '--base-url', 'http://127.0.0.1:8081'];
  it.each([
    ['an option without a server', ['--allow-writes']],
    ['an unknown option', [...server, '--client-secret', 'x']],
    ['a report of another format', ['--report', 'report.txt']],
    ['a folder that is not there', ['--report', 'no-such-folder/report.json']],
    ['a server that is no URL', ['--auth-url', 'cloud', '--base-url', 'cloud']],
    ['a client without a callback URL', [...server, '--client-id', 'x']],
    [
      'a callback URL without a fixed port',
      [...server, '--client-id', 'x', '--callback-url', 'http://127.0.0.1:0/callback'],
    ],
    ['a cluster that is no UUID', [...server, '--cluster', 'orders']],
    ['another place of parameters', [...server, '--token-params', 'header']],
    ['--browser without --allow-writes', [...server, '--browser']],
    ['--browser without a client', [...server, '--browser', '--allow-writes']],
    ['an admin URL without its token', [...server, '--admin-url', 'http://127.0.0.1:8080']],
  ])('%s: exit 2 before a statement is played', async (_, words) => {
    const ran = await play(words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('conformance', ran.err.split('\n')[0] ?? '');
  });
});
