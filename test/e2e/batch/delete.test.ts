import { describe, expect, it } from 'vitest';
import type { FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import type { Droplet } from '../../../src/sandbox/records.ts';
import { MAYA, userOf } from '../../sandbox/requests.ts';
import { type BatchSetup, ndjsonRows, seededRandom, setUpBatch } from './batch-setup.ts';

const spec = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: ['ci'], features: [] };
const kept = ['keep-1', 'keep-2', 'cix', 'ci'];

/** An account with droplets to delete, and others whose names are close to theirs. */
async function setUpDeletion(count: number) {
  const setup = await setUpBatch();
  const account = userOf(setup.sandbox, MAYA).uuid;
  const droplets = (): readonly Droplet[] => setup.sandbox.world.droplets.of(account);
  for (const droplet of [...droplets()]) setup.sandbox.world.droplets.delete(droplet);
  setup.sandbox.world.droplets.create(account, kept, { ...spec, tags: [] });
  const names = Array.from({ length: count }, (_, at) => `ci-${at}`);
  const created = setup.sandbox.world.droplets.create(account, names, spec);
  return { ...setup, account, droplets, names, ids: created.map(({ droplet }) => droplet.id) };
}

/** Each fault at some of the deletions. */
function addDeletionFaults(
  { sandbox }: Pick<BatchSetup, 'sandbox'>,
  faults: readonly Pick<FaultSpec, 'action' | 'delay' | 'status'>[],
  times: number,
  among: number,
  chance: () => number,
): void {
  const match = { method: 'DELETE', path: '/v2/droplets/*' };
  for (let at = 0; at < times; at++) {
    const fault = faults[Math.floor(chance() * faults.length)];
    if (fault !== undefined) sandbox.faults.add({ match, nth: 1 + Math.floor(chance() * among), ...fault });
  }
}

const deletionFaults: readonly Pick<FaultSpec, 'action' | 'delay' | 'status'>[] = [
  { action: 'delay', delay: 1_500 },
  { action: 'status', status: 500 },
  { action: 'status', status: 503 },
  { action: 'drop_before_commit' },
  { action: 'commit_then_drop' },
  { action: 'bad_json' },
  { action: 'html_502' },
  { action: 'reset' },
  { action: 'rate_limit' },
];

/** Exactly the droplets that were shown are gone; the number of their destroy actions proves that no other ever was. */
function expectExactlyGone(setup: Awaited<ReturnType<typeof setUpDeletion>>): void {
  const { droplets, sandbox, account, ids } = setup;
  expect(droplets().map(({ name }) => name)).toEqual(kept);
  const destroyed = sandbox.world.droplets
    .actionsOf(account)
    .filter(({ type, droplet }) => type === 'destroy' && ids.includes(droplet));
  expect(destroyed.map(({ droplet }) => droplet).sort()).toEqual([...ids].sort());
}

describe('droplets delete', () => {
  it.each(deletionFaults)('deletes exactly what it shows when the server does %j', async (fault) => {
    const setup = await setUpDeletion(60);
    addDeletionFaults(setup, [fault], 12, 60, seededRandom(3));
    const ran = await setup.run(['droplets', 'delete', 'ci-*', '--yes', '--timeout', '1s', '-o', 'ndjson']);
    expect(ran).toMatchObject({ code: 0 });
    const rows = ndjsonRows(ran.stdout);
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...setup.names].sort());
    expect(rows.filter(({ status }) => status !== 'deleted')).toEqual([]);
    for (const id of setup.ids) expect(ran.stderr).toContain(String(id));
    expectExactlyGone(setup);
  });

  it('deletes by tag what all faults together let through, and the rest with the next run', async () => {
    const setup = await setUpDeletion(200);
    const chance = seededRandom(11);
    // One that the server refuses at every attempt.
    const [first] = setup.ids;
    const match = { method: 'DELETE', path: `/v2/droplets/${first}` };
    setup.sandbox.faults.add({ match, action: 'status', status: 503, times: 100 });
    addDeletionFaults(setup, deletionFaults, 60, 200, chance);
    const command = ['droplets', 'delete', '--tag', 'ci', '--yes', '--timeout', '1s', '-o', 'json'];
    const ran = await setup.run(command);
    expect(ran.code).toBe(5);
    const rows: readonly { id: number; status: string }[] = JSON.parse(ran.stdout);
    const unknown = rows.filter(({ status }) => status !== 'deleted');
    expect(unknown).toMatchObject([{ id: first, status: 'unknown' }]);
    expect(JSON.parse(ran.stderr).error).toMatchObject({ code: 'batch_partial', exit_code: 5 });
    setup.sandbox.faults.clear();
    expect((await setup.run(command)).code).toBe(0);
    expectExactlyGone(setup);
  });

  it('prints the droplets that are left after SIGINT, and a second run deletes them', async () => {
    const setup = await setUpDeletion(40);
    const match = { method: 'DELETE', path: '/v2/droplets/*' };
    setup.sandbox.faults.add({ match, action: 'delay', delay: 400, nth: 5, times: 4 });
    const running = setup.start(['droplets', 'delete', 'ci-*', '--yes', '--concurrency', '1', '-o', 'json']);
    running.child.stdin?.end();
    await expect.poll(() => setup.sandbox.faults.list()[0]?.applied ?? 0, { timeout: 20_000 }).toBeGreaterThan(0);
    running.child.kill('SIGINT');
    const ran = await running.ended;
    expect(ran.code).toBe(130);
    const rows: readonly { id: number; name: string; status: string }[] = JSON.parse(ran.stdout);
    const left = rows.filter(({ status }) => status !== 'deleted').map(({ name }) => name);
    expect(left.length).toBeGreaterThan(0);
    // The request that was interrupted may be carried out at any time: its droplet is unknown.
    expect(rows.filter(({ status }) => status === 'unknown').length).toBeLessThanOrEqual(1);
    const deleted = new Set(rows.filter(({ status }) => status === 'deleted').map(({ id }) => id));
    expect(setup.droplets().filter(({ id }) => deleted.has(id))).toEqual([]);
    expect(JSON.parse(ran.stderr).error.hint).toContain('--if-missing skip');
    expect((await setup.run(['droplets', 'delete', ...left, '--if-missing', 'skip', '--yes'])).code).toBe(0);
    expectExactlyGone(setup);
  });
});
