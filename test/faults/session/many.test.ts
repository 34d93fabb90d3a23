import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Ran } from '../../fixtures/cli.ts';
import { endOf, errorOf, expectInvariants, refreshCommits, runNextCommand, until } from './assertions.ts';
import { expireAtServer, type FaultFixture } from './fault-fixture.ts';
import { amount, tell } from './figures.ts';
import { describeStores } from './stores.ts';

describe('many processes', () => {
  const { processes, rounds } = amount;

  describeStores('many processes', ({ store, make }) => {
    test(
      `K15: ${processes} processes meet an expired token ${rounds} times: one refresh each time, and all succeed`,
      async (context) => {
        const fixture = await make(context);
        let [most, successes] = [0, 0];
        for (let round = 0; round < rounds; round++) {
          await fixture.expire(true);
          const before = fixture.refreshes().length;
          const ends = await Promise.all(
            Array.from({ length: processes }, () => runNextCommand(fixture, { limit: 120_000 })),
          );
          most = Math.max(most, fixture.refreshes().length - before);
          successes += ends.filter((end) => end === 'usable').length;
          expect([round, fixture.refreshes().length - before, ends]).toEqual([round, 1, ends.map(() => 'usable')]);
          await expectInvariants(fixture);
          fixture.printed.length = 0;
        }
        expect(fixture.beside()).toEqual([]);
        tell({ what: 'rounds', store, values: { processes, rounds, most, successes } });
      },
      20 * 60_000,
    );

    test('K15: those that the server alone refuses renew it once as well', async (context) => {
      const fixture = await make(context);
      await fixture.write({ ...(await itemOf(fixture)), expiresAt: Math.floor(Date.now() / 1000) + 86_400 });
      expireAtServer(fixture.sandbox);
      const ends = await Promise.all(Array.from({ length: 6 }, () => runNextCommand(fixture)));
      expect(ends).toEqual(ends.map(() => 'usable'));
      expect(fixture.refreshes()).toHaveLength(1);
      await expectInvariants(fixture);
    });

    test('K16: siblings that renew the session during a batch double no droplet', async (context) => {
      const fixture = await make(context);
      const match = { method: 'POST', path: '/v2/droplets' };
      fixture.sandbox.faults.add({ match, action: 'delay', delay: 40, times: 1_000 });
      const names = Array.from({ length: 40 }, (_, at) => `batch-${at + 1}`);
      const words = [
        'droplets',
        'create',
        ...names,
        '--size',
        's-1vcpu-1gb',
        '--image',
        'debian-12-x64',
        '--region',
        'fra1',
      ];
      const options = ['--batch-size', '2', '--concurrency', '2', '-o', 'json', '--yes'];
      const before = droplets(fixture);
      const batch = fixture.start([...words, ...options]);
      const siblings: Ran[] = [];
      for (const step of [3, 8, 13]) {
        await until(() => fixture.sandbox.requests('POST /v2/droplets').length >= step, `request ${step}`, batch);
        // Stopped in the middle of its requests, so that what it holds is dead when it goes on.
        batch.kill('SIGSTOP');
        siblings.push(await fixture.run(['auth', 'refresh', '-o', 'json']));
        batch.kill('SIGCONT');
      }
      const ran = await batch.ended;
      expect(siblings.map(({ code }) => code)).toEqual([0, 0, 0]);
      expect([ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([0, '']);
      const rows = ran.json<readonly { readonly name: string; readonly status: string }[]>();
      expect(rows.map(({ name, status }) => [name, status])).toEqual(names.map((name) => [name, 'created']));
      expect([...droplets(fixture)].sort()).toEqual([...before, ...names].sort());
      expect(refused(fixture)).toBeGreaterThan(0);
      expect(refreshCommits(fixture).length).toBe(4);
      await expectInvariants(fixture);
    });

    test('K16: a batch and its siblings that begin on an expired token', async (context) => {
      const fixture = await make(context);
      const before = droplets(fixture);
      const words = ['droplets', 'create', 'box-{1..12}', '--size', 's-1vcpu-1gb', '--image', 'debian-12-x64'];
      const options = ['--region', 'fra1', '--batch-size', '1', '-o', 'json', '--yes'];
      const [batch, ...ends] = await Promise.all([
        fixture.run([...words, ...options]),
        ...Array.from({ length: 4 }, () => fixture.run(['actions', 'list', '-o', 'json'])),
      ]);
      expect([batch?.code, ...ends.map(endOf)]).toEqual([0, 'usable', 'usable', 'usable', 'usable']);
      const names = Array.from({ length: 12 }, (_, at) => `box-${at + 1}`);
      expect([...droplets(fixture)].sort()).toEqual([...before, ...names].sort());
      expect(fixture.refreshes()).toHaveLength(1);
      await expectInvariants(fixture);
    });
  });

  async function itemOf(fixture: FaultFixture) {
    const item = await fixture.item();
    if (item === undefined) throw new Error('there is no session');
    return item;
  }

  function droplets({ sandbox }: FaultFixture): readonly string[] {
    const [maya] = sandbox.ready.users.filter(({ email }) => email === 'maya@example.com');
    return sandbox.world.droplets.of(maya?.uuid ?? '').map(({ name }) => name);
  }

  /** Requests of the batch that met a dead token: they are what could have been sent twice. */
  function refused({ sandbox }: FaultFixture): number {
    return sandbox.requests('POST /v2/droplets').filter(({ status }) => status === 404 || status === 401).length;
  }
});

describe('without shared locks', () => {
  const hook = fileURLToPath(new URL('./unshared-locks.cjs', import.meta.url));
  const unshared = { env: { NODE_OPTIONS: `--require=${hook}` } };
  const [processes, rounds] = [6, Number(process.env.CLOUDCTL_TEST_UNSHARED ?? '4')];

  describeStores('locks that are not shared', ({ make }) => {
    test(
      `${processes} processes meet an expired token ${rounds} times, and no round loses the session`,
      async (context) => {
        const fixture = await make(context);
        const lost: number[] = [];
        const failures: string[] = [];
        for (let round = 0; round < rounds; round++) {
          await fixture.expire(true);
          const list = ['actions', 'list', '-o', 'json'];
          const ran = await Promise.all(Array.from({ length: processes }, () => fixture.run(list, unshared)));
          failures.push(
            ...ran.filter(({ code }) => code !== 0).map((one) => `${one.code} ${errorOf(one)} ${one.stderr}`),
          );
          const next = await fixture.run(list);
          if (next.code !== 0) {
            lost.push(round);
            break;
          }
        }
        expect({ lost, failures }).toEqual({ lost: [], failures: [] });
        expect(await runNextCommand(fixture)).toBe('usable');
      },
      10 * 60_000,
    );
  });
});
