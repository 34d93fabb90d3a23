import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor, TOMAS, tokenFor, userOf } from '../sandbox/requests.ts';
import { fastClock } from './batch-fixtures.ts';

const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];
const names = ['ledger-a', 'ledger-b', 'ledger-c'];

/** Droplets of these names, counted at the server in both contexts of the person. */
function counts(sandbox: SandboxServers): readonly [personal: number, team: number] {
  const tomas = userOf(sandbox, TOMAS);
  const count = (account = '') => sandbox.world.droplets.of(account).filter(({ name }) => names.includes(name)).length;
  return [count(tomas.uuid), count(tomas.teams[0]?.uuid)];
}

/** A batch of three names, of which the first was created and the second was refused. */
async function startedBatch(env: (sandbox: SandboxServers) => Promise<Record<string, string>> = async () => ({})) {
  const sandbox = await sandboxFor();
  const host = testHost({ env: await env(sandbox) });
  await seedSession(host, sandbox, { context: 'team' });
  sandbox.faults.add({ match: { method: 'POST', path: '/v2/droplets' }, action: 'status', status: 403, nth: 2 });
  const ran = await runCloudctl(host, [
    'droplets',
    'create',
    ...names,
    ...like,
    '--batch-size',
    '1',
    '--concurrency',
    '1',
  ]);
  expect(ran.code).toBe(5);
  return { sandbox, host, ledger: /^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '' };
}

/** Another machine with the same state folder and a token of the environment. */
function withToken(host: TestHost, token: string): TestHost {
  return { ...host, env: { ...host.env, CLOUDCTL_ACCESS_TOKEN: token } };
}

describe('a batch is resumed', () => {
  it('in the same context, and every name exists once', async () => {
    const { sandbox, host, ledger } = await startedBatch();
    expect(counts(sandbox)).toEqual([0, 1]);
    expect((await runCloudctl(host, ['droplets', 'create', '--resume', ledger])).code).toBe(0);
    expect(counts(sandbox)).toEqual([0, 3]);
  });

  it('not in the personal context of the same account: exit 4, both are named, nothing is created', async () => {
    const { sandbox, host, ledger } = await startedBatch();
    await seedSession(host, sandbox, { context: 'personal' });
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger]);
    expect(ran.code).toBe(4);
    expect(counts(sandbox)).toEqual([0, 1]);
    const tomas = userOf(sandbox, TOMAS);
    const text = ran.err.replaceAll(tomas.uuid, 'ACCOUNT').replaceAll(tomas.teams[0]?.uuid ?? '?', 'TEAM');
    expectGolden(
      'droplets',
      text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://SERVER').replace(/hint [0-9a-f]{6}/, 'hint 6HEX'),
    );
  });

  it.each([
    [4, { user: TOMAS }],
    [4, {}],
    [0, { user: TOMAS, team: true }],
  ])('with CLOUDCTL_ACCESS_TOKEN, proven by GET /v2/account: exit %i for %j', async (code, body) => {
    const { sandbox, host, ledger } = await startedBatch();
    const team = userOf(sandbox, TOMAS).teams[0]?.uuid;
    const { access_token: token } = await tokenFor(sandbox, { ...body, ...('team' in body ? { team } : {}) });
    const ran = await runCloudctl(withToken(host, token), ['droplets', 'create', '--resume', ledger]);
    expect(ran.code).toBe(code);
    expect(counts(sandbox)).toEqual([0, code === 0 ? 3 : 1]);
  });

  it('with CLOUDCTL_ACCESS_TOKEN at a server without GET /v2/account, proven by a droplet of the ledger', async () => {
    const { sandbox, host, ledger } = await startedBatch();
    sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 404, times: 100 });
    const team = userOf(sandbox, TOMAS).teams[0]?.uuid;
    const other = await tokenFor(sandbox, {});
    const refused = await runCloudctl(withToken(host, other.access_token), ['droplets', 'create', '--resume', ledger]);
    expect(refused.code).toBe(4);
    expect(counts(sandbox)).toEqual([0, 1]);
    const same = await tokenFor(sandbox, { user: TOMAS, team });
    const ran = await runCloudctl(withToken(host, same.access_token), ['droplets', 'create', '--resume', ledger]);
    expect(ran.code).toBe(0);
    expect(counts(sandbox)).toEqual([0, 3]);
  });

  it.each([500, 503])('during an outage (%i) stops with that error', async (status) => {
    const { sandbox, host, ledger } = await startedBatch();
    sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 404, times: 100 });
    sandbox.faults.add({ match: { method: 'GET', path: '/v2/droplets/*' }, action: 'status', status, times: 100 });
    const { access_token: token } = await tokenFor(sandbox, { user: TOMAS });
    const ran = await runCloudctl(withToken(host, token), ['droplets', 'create', '--resume', ledger, '-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'api_error', exit_code: 1 });
    expect(counts(sandbox)).toEqual([0, 1]);
  });

  it('after its end, not in another context, which would not see its droplets', async () => {
    const { sandbox, host, ledger } = await startedBatch();
    expect((await runCloudctl(host, ['droplets', 'create', '--resume', ledger])).code).toBe(0);
    await seedSession(host, sandbox, { context: 'personal' });
    expect((await runCloudctl(host, ['droplets', 'create', '--resume', ledger])).code).toBe(4);
    expect((await runCloudctl(host, ['droplets', 'create', '--resume', ledger, '--wait'])).code).toBe(4);
  });

  it.each([{}, { user: TOMAS }])('after its end, not with a token of another user or context: %j', async (body) => {
    const { sandbox, host, ledger } = await startedBatch();
    expect((await runCloudctl(host, ['droplets', 'create', '--resume', ledger])).code).toBe(0);
    const { access_token: token } = await tokenFor(sandbox, body);
    const words = ['droplets', 'create', '--resume', ledger, '-o', 'ndjson'];
    const ran = await runCloudctl(withToken(host, token), words);
    expect([ran.code, ran.out]).toEqual([4, '']);
    const garbage = await runCloudctl(withToken(host, 'garbage'), words);
    expect([garbage.code, garbage.out]).toEqual([4, '']);
    sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 404, times: 100 });
    expect((await runCloudctl(withToken(host, token), words)).code).toBe(4);
    expect((await runCloudctl(withToken(host, 'garbage'), words)).code).toBe(4);
  });

  it('whose ledger has no droplet, at a server without GET /v2/account, by the new batch of the hint', async () => {
    const sandbox = await sandboxFor();
    sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 404, times: 100 });
    const { access_token: token } = await tokenFor(sandbox, {
      user: TOMAS,
      team: userOf(sandbox, TOMAS).teams[0]?.uuid,
    });
    const env = { CLOUDCTL_ACCESS_TOKEN: token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
    const host = { ...testHost({ env }), clock: fastClock() };
    const ran = await runCloudctl(host, ['droplets', 'create', ...names, ...like]);
    const ledger = /^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '';
    // As a run that was killed before it had read the response.
    const lines = readFileSync(ledger, 'utf8').split('\n');
    writeFileSync(ledger, lines.filter((line) => !line.includes('"event":"created"')).join('\n'));
    const entry = join(host.folders.state, 'batches', 'running', '1.json');
    const { ended, ...killed } = JSON.parse(readFileSync(entry, 'utf8'));
    expect(ended).toBeDefined();
    writeFileSync(entry, JSON.stringify(killed));
    const refused = await runCloudctl(host, ['droplets', 'create', '--resume', ledger, '-o', 'json']);
    expect(refused.error()).toMatchObject({ code: 'needs_login', exit_code: 4 });
    const hint = /`cloudctl ([^`]+)`/.exec(refused.error().hint ?? '')?.[1]?.split(' ') ?? [];
    expect(hint.slice(0, 7)).toEqual(['droplets', 'create', ...names, '--if-exists', 'skip']);
    const again = await runCloudctl(host, [...hint, '-o', 'json']);
    expect(again.code).toBe(0);
    expect(again.json()).toMatchObject(names.map((name) => ({ name, status: 'skipped' })));
    expect(counts(sandbox)).toEqual([0, 3]);
  });
});
