import { expect, it } from 'vitest';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { admin, sandboxFor, TOMAS, tokenFor, userOf } from '../sandbox/requests.ts';

// Two names: a single droplet leaves no ledger.
const create = [
  'droplets',
  'create',
  'identity-1',
  'identity-2',
  '--size',
  's-1vcpu-1gb',
  '--image',
  'ubuntu-24-04-x64',
];

/** The first line of the ledger that the run printed. */
async function recordedBatch(ran: { readonly err: string }): Promise<Record<string, unknown>> {
  const { readFileSync } = await import('node:fs');
  const path = /^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '';
  return JSON.parse(readFileSync(path, 'utf8').split('\n')[0] ?? '');
}

it('is that of the stored session, without a request', async () => {
  const [sandbox, host] = [await sandboxFor(), testHost()];
  await seedSession(host, sandbox, { context: 'team' });
  const tomas = userOf(sandbox, TOMAS);
  expect(await recordedBatch(await runCloudctl(host, create))).toMatchObject({
    account: tomas.uuid,
    team: tomas.teams[0]?.uuid,
    auth_url: sandbox.ready.auth_url,
    client_id: sandbox.ready.client_id,
  });
  const { body } = await admin(sandbox, 'GET', '/_sandbox/requests');
  expect(body).not.toContain('/v2/account');
});

it('of CLOUDCTL_ACCESS_TOKEN comes from GET /v2/account, and is unknown where that is missing', async () => {
  const [sandbox, host] = [await sandboxFor(), testHost()];
  const { access_token: token } = await tokenFor(sandbox, { user: TOMAS });
  const env = { CLOUDCTL_ACCESS_TOKEN: token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
  const withToken = { ...host, env: { ...host.env, ...env } };
  expect(await recordedBatch(await runCloudctl(withToken, create))).toMatchObject({
    account: userOf(sandbox, TOMAS).uuid,
    team: 'personal',
  });
  sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 404, times: 100 });
  const other = await runCloudctl(withToken, [...create, '--if-exists', 'create']);
  expect(Object.keys(await recordedBatch(other))).not.toContain('account');
});
