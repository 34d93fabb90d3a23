import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tryAcquire } from '../../../../src/platform/locks.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { seedSession } from '../../../fixtures/session.ts';
import { TOMAS } from '../../../sandbox/requests.ts';
import { recordedRequests } from '../../run-cloudctl.ts';
import { machineWithBatch } from './batches.ts';

interface Row {
  readonly name: string;
  readonly status: string;
}

/** Without the ids and times of the sandbox. */
function masked(text: string): string {
  return text.replaceAll(/\b\d{7,}\b/g, 'ID-NUMBER').replaceAll(/\b\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME');
}

const at = '2026-01-01T00:00:00.000Z';

describe('droplets batches delete', () => {
  it('deletes exactly what the batch created: no droplet of the same name, and none that was skipped', async () => {
    const first = await machineWithBatch(['a', 'skipped']);
    const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '-o', 'json'];
    const second = await first.create('skipped', 'b', 'c', '--if-exists', 'skip', ...like);
    const ledger = second.json<{ ledger: string }[]>()[0]?.ledger ?? '';
    // Another droplet of the same name.
    await first.create('b', '--if-exists', 'create', ...like);
    const ran = await first.run('delete', ledger, '--yes', '-o', 'json');
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.json<Row[]>().map(({ name, status }) => `${name} ${status}`)).toEqual(['b deleted', 'c deleted']);
    expect(['a', 'skipped', 'b', 'c'].map((name) => first.named(name).length)).toEqual([1, 1, 1, 0]);
  });

  it('records what was deleted, so that --resume creates it again and the list says deleted', async () => {
    const { id, ledger, named, run, create } = await machineWithBatch(['a', 'b']);
    const [a] = named('a');
    expect((await run('delete', id, '--yes')).code).toBe(0);
    expect((await run('list', '-o', 'json')).json()).toMatchObject([{ id, state: 'deleted', created: 0, missing: 2 }]);
    const shown = (await run('show', id, '-o', 'json')).json<Row[]>();
    expect(shown.map(({ status }) => status)).toEqual(['deleted', 'deleted']);
    const again = await run('delete', id, '--yes', '-o', 'json');
    expect(again).toMatchObject({ code: 0, err: '' });
    expect(again.json()).toEqual([]);
    expect((await create('--resume', ledger)).code).toBe(0);
    expect(named('a')).toHaveLength(1);
    expect(named('a')[0]?.id).not.toBe(a?.id);
  });

  it('leaves names with an unknown result, and says so', async () => {
    const { ledger, id, named, run } = await machineWithBatch(['a', 'b']);
    const unknown = { event: 'unknown', at, group: 9, names: ['b'], error: 'no response', resend: false };
    appendFileSync(ledger, `${JSON.stringify(unknown)}\n`);
    const ran = await run('delete', id, '--yes');
    expect(ran.code).toBe(0);
    expect([named('a').length, named('b').length]).toEqual([0, 1]);
    expectGolden('droplets', masked(ran.err));
  });

  it('deletes nothing with --dry-run, and without a confirmation', async () => {
    const { sandbox, id, named, run } = await machineWithBatch(['a', 'b']);
    const dry = await run('delete', id, '--dry-run', '-o', 'json');
    expect(dry.json<Row[]>().map(({ name }) => name)).toEqual(['a', 'b']);
    const before = await recordedRequests(sandbox);
    expect((await run('delete', id)).code).toBe(2);
    expect(await recordedRequests(sandbox)).toEqual(before);
    expect(named('a')).toHaveLength(1);
  });

  it.each([[[]], [['--batch-id', 'x']]])(
    'deletes nothing when an id is that of a droplet with another name %j',
    async (words) => {
      const { sandbox, ledger, named, run, create } = await machineWithBatch(['a', 'b'], ...words);
      await create('database', '--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64');
      const [b, database] = [named('b')[0]?.id, named('database')[0]?.id];
      // A ledger that was edited, or that is of an earlier server at this address.
      writeFileSync(ledger, readFileSync(ledger, 'utf8').replaceAll(String(b), String(database)));
      for (const option of ['--yes', '--dry-run']) {
        const ran = await run('delete', ledger, option, '-o', 'json');
        expect(ran).toMatchObject({ code: 2, out: '' });
      }
      expect(['a', 'b', 'database'].map((name) => named(name).length)).toEqual([1, 1, 1]);
      expect((await recordedRequests(sandbox)).filter((one) => one.startsWith('DELETE'))).toEqual([]);
      const ran = await run('delete', ledger, '--yes');
      expectGolden('droplets', masked(ran.err));
    },
  );

  it.each(['1.5', '0', '-7', '"7a"'])('sends no request with the id %s', async (id) => {
    const { sandbox, ledger, named, run } = await machineWithBatch(['a', 'b']);
    writeFileSync(ledger, readFileSync(ledger, 'utf8').replaceAll(`"id":${named('a')[0]?.id}`, `"id":${id}`));
    expect((await run('delete', ledger, '--yes')).code).toBe(2);
    expect((await recordedRequests(sandbox)).filter((one) => one.startsWith('DELETE'))).toEqual([]);
  });

  it('continues after a failure where it stopped', async () => {
    const { sandbox, id, named, run } = await machineWithBatch(['a', 'b', 'c']);
    const match = { method: 'DELETE', path: '/v2/droplets/*' };
    sandbox.faults.add({ match, nth: 2, action: 'status', status: 403 });
    const begun = await run('delete', id, '--yes', '--concurrency', '1', '-o', 'json');
    expect(begun.code).toBe(5);
    expect(begun.json<Row[]>().filter(({ status }) => status === 'deleted')).toHaveLength(1);
    const ran = await run('delete', id, '--yes', '-o', 'json');
    expect(ran.code).toBe(0);
    expect(ran.json<Row[]>()).toHaveLength(2);
    expect(['a', 'b', 'c'].map((name) => named(name).length)).toEqual([0, 0, 0]);
  });

  it('refuses a batch that is running, and one of another account', async () => {
    const { host, sandbox, id, ledger, named, run } = await machineWithBatch(['a', 'b']);
    const lock = tryAcquire(`${ledger}.lock`);
    expect((await run('delete', id, '--yes', '-o', 'json')).error()).toMatchObject({ code: 'busy' });
    lock?.release();
    await seedSession(host, sandbox, { scope: 'read write', user: TOMAS });
    expect((await run('delete', id, '--yes', '-o', 'json')).code).toBe(4);
    expect(named('a')).toHaveLength(1);
  });
});
