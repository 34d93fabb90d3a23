import { appendFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { recordedRequests } from '../../run-cloudctl.ts';
import { machineWithBatch } from './batches.ts';

interface Row {
  readonly name: string;
  readonly status: string;
  readonly id?: number;
  readonly public_ipv4?: string;
  readonly state?: string;
  readonly difference?: string;
}

it.each([[[]], [['--batch-id', 'nightly']]])('shows ids, addresses and states %j', async (words) => {
  const { sandbox, ledger, named, run } = await machineWithBatch(['a', 'b', 'c'], ...words, '--wait');
  const [a, b] = [...named('a'), ...named('b')];
  if (b !== undefined) sandbox.world.droplets.delete(b);
  const ran = await run('show', ledger, '-o', 'json');
  expect(ran).toMatchObject({ code: 0, err: '' });
  const rows = ran.json<Row[]>();
  expect(rows[0]).toEqual({
    ...{ name: 'a', status: 'created', id: a?.id, state: 'active' },
    public_ipv4: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
  });
  expect(rows[1]).toEqual({ name: 'b', status: 'created', id: b?.id, state: 'gone' });
  expect(rows).toHaveLength(3);
});

it('shows how a droplet differs, and names that the ledger has no result for', async () => {
  const { ledger, id, run } = await machineWithBatch(['a', 'b']);
  const at = '2026-01-01T00:00:00.000Z';
  const unknown = { event: 'unknown', at, group: 9, names: ['b'], error: 'no response', resend: false };
  appendFileSync(ledger, `${JSON.stringify(unknown)}\n`);
  const ran = await run('show', id, '-o', 'json');
  expect(ran.json<Row[]>()[1]).toEqual({ name: 'b', status: 'unknown', error: 'no response' });
});

it('sends no request with --offline', async () => {
  const { sandbox, id, run } = await machineWithBatch(['a', 'b']);
  const before = await recordedRequests(sandbox);
  const ran = await run('show', id, '--offline', '-o', 'json');
  expect(ran.json<Row[]>()).toMatchObject([{ name: 'a', status: 'created' }, { name: 'b' }]);
  expect(ran.json<Row[]>()[0]?.state).toBeUndefined();
  expect(await recordedRequests(sandbox)).toEqual(before);
});

it('prints what the ledger has when the server cannot be asked, and says so', async () => {
  const { sandbox, id, run } = await machineWithBatch(['a', 'b']);
  await sandbox.close();
  const ran = await run('show', id);
  expect(ran.code).toBe(0);
  expect(ran.err).not.toBe('');
  expect(ran.out).toContain('created');
});

it('a batch that does not exist is exit 2', async () => {
  const { run } = await machineWithBatch(['a', 'b']);
  const ran = await run('show', 'other', '-o', 'json');
  expect(ran).toMatchObject({ code: 2, out: '' });
});
