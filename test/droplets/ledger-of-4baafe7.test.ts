import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiResponse } from '../../src/api/api-response.ts';
import type { ApiRequest } from '../../src/api/client.ts';
import { type Ledger, openLedger } from '../../src/droplets/ledger.ts';
import { sendMissing } from '../../src/droplets/send.ts';
import { type SandboxServers, startSandboxServers } from '../../src/sandbox/sandbox.ts';
import {
  apiOf,
  batchResponse,
  instantClock,
  type ScriptedApi,
  testLedgerPath,
  testMachine,
  testRun,
} from './batch-fixtures.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/4baafe7/batch', import.meta.url));
const ACCOUNT = 'maya@example.com';

/** A copy of a ledger, opened on a machine that has been restarted since it was written. */
async function open(name: string): Promise<Ledger> {
  const path = testLedgerPath();
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(join(FIXTURES, name), path);
  const ledger = await openLedger(path, testMachine);
  onTestFinished(() => ledger.close());
  return ledger;
}

describe('a ledger written by commit 4baafe7', () => {
  it('is read when its batch is finished', async () => {
    const { state } = await open('finished.jsonl');
    expect(state.batch).toMatchObject({ id: '9b754b0ba620', mark: true, if_exists: 'fail' });
    expect([...state.rows()]).toEqual([
      { name: 'done-01', status: 'created', id: 400_000_013, action_id: 400_000_014 },
      { name: 'done-02', status: 'created', id: 400_000_015, action_id: 400_000_016 },
      { name: 'done-03', status: 'created', id: 400_000_017, action_id: 400_000_018 },
    ]);
  });

  it('is resumed after a kill: 8 names created, 4 created without an answer, 12 never created', async () => {
    const { sandbox, api } = await restoredSandbox();
    const before = dropletNames(sandbox);
    expect(before.filter((name) => name.startsWith('node-'))).toHaveLength(12);
    const ledger = await open('interrupted.jsonl');
    expect([...ledger.state.rows()].filter(({ status }) => status === 'created')).toHaveLength(8);
    const clock = instantClock();
    const { stop } = await sendMissing(testRun(ledger, api, { clock }), {
      timeout: 30_000,
      batchSize: 4,
      concurrency: 3,
      onSettled: async () => {},
    });
    expect(stop).toBeUndefined();
    const rows = [...ledger.state.rows()];
    expect(rows.filter(({ status }) => status !== 'created')).toEqual([]);
    const created = dropletNames(sandbox).slice(before.length);
    expect(created.sort()).toEqual(Array.from({ length: 12 }, (_, at) => `node-${at + 13}`));
  });
});

/** The sandbox as it was when the process that wrote the ledger was killed, and a client of it. */
async function restoredSandbox(): Promise<{ readonly sandbox: SandboxServers; readonly api: ScriptedApi }> {
  const sandbox = await startSandboxServers();
  onTestFinished(() => sandbox.close());
  const { admin_url: url, base_url: base, admin_token: token } = sandbox.ready;
  const headers = { 'x-admin-token': token };
  const snapshot = readFileSync(join(FIXTURES, 'sandbox-snapshot.json'), 'utf8');
  expect((await fetch(`${url}/_sandbox/restore`, { method: 'POST', headers, body: snapshot })).status).toBe(200);
  const wanted = JSON.stringify({ user: ACCOUNT, scope: 'read write' });
  const issued = await fetch(`${url}/_sandbox/tokens`, { method: 'POST', headers, body: wanted });
  const { access_token: accessToken } = JSON.parse(await issued.text());
  const send = async ({ method, path, body }: ApiRequest): Promise<ApiResponse> => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${accessToken}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    return batchResponse(response.status, JSON.parse(await response.text()), { date });
  };
  return { sandbox, api: apiOf(send, send) };
}

function dropletNames({ world }: SandboxServers): string[] {
  const account = world.registry.personByEmail(ACCOUNT)?.uuid ?? '';
  return world.droplets(account).map(({ name }) => name);
}
