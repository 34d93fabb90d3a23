import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { initializeSharedStore } from '../../src/shared-store/initialize-shared-store.ts';
import { createPostgresqlSharedStore } from '../../src/shared-store/postgresql-shared-store.ts';
import { createRedisSharedStore } from '../../src/shared-store/redis-shared-store.ts';
import type { SharedSessionOperation, SharedSessionStore } from '../../src/shared-store/shared-session.ts';
import { parseSharedStoreUrl } from '../../src/shared-store/store-url.ts';
import { lacks } from '../fixtures/needs.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { startRedis } from '../fixtures/redis.ts';
import { applySharedOperation, type ReferenceRow } from './reference-store.ts';

interface Engine {
  readonly name: string;
  readonly isMissing: boolean;
  readonly start: () => Promise<{ open(): SharedSessionStore; stop(): Promise<void> }>;
}

const newShare = (): string => randomBytes(8).toString('hex');

const engines: readonly Engine[] = [
  {
    name: 'PostgreSQL',
    isMissing: false,
    start: async () => {
      const server = await startPostgres();
      const url = (user: string, password: string): string =>
        `postgres://${user}:${password}@127.0.0.1:${server.port}/postgres`;
      await initializeSharedStore(
        parseSharedStoreUrl(url('postgres', server.password), () => undefined),
        'fleet',
      );
      await server.query("CREATE ROLE member LOGIN PASSWORD 'member' IN ROLE fleet");
      const address = parseSharedStoreUrl(url('member', 'member'), () => undefined);
      if (address.engine !== 'postgresql') throw new Error('another engine');
      return {
        open: () => createPostgresqlSharedStore(address.source, { share: newShare(), profile: 'default' }),
        stop: () => server.stop(),
      };
    },
  },
  {
    name: 'Redis',
    isMissing: lacks('redis-server'),
    start: async () => {
      const server = await startRedis();
      const address = parseSharedStoreUrl(`redis://${server.host}:${server.port}/3`, () => undefined);
      if (address.engine !== 'redis') throw new Error('another engine');
      return {
        open: () => createRedisSharedStore(address.source, { share: newShare(), profile: 'default' }),
        stop: () => server.stop(),
      };
    },
  },
];

const version = {
  epoch: fc.constantFrom(1_790_000_000, 1_790_000_001),
  sid: fc.constantFrom('aa', 'bb'),
  gen: fc.integer({ min: 1, max: 3 }),
};
const by = fc.constantFrom('ci-1#a', 'ci-2#b', 'ci-3#c');
const attempt = fc.constantFrom('1', '2', "3'\\");
/** Leases that are over at once, and leases that last longer than the test. */
const leaseMs = fc.constantFrom(-10, 600_000);
const kid = fc.constantFrom('k1', 'k2');
const record = fc.constantFrom('r1', "r2'\\");
const operations: fc.Arbitrary<SharedSessionOperation> = fc.oneof(
  fc.record({ op: fc.constant('read' as const) }),
  fc.record({ op: fc.constant('claim' as const), by, attempt, leaseMs, ...version }),
  fc.record({ op: fc.constant('renew' as const), attempt, leaseMs }),
  fc.record({ op: fc.constant('release' as const), attempt, unsent: fc.boolean() }),
  fc.record({
    op: fc.constant('commit' as const),
    by,
    event: fc.constant('refresh' as const),
    kid,
    record,
    ...version,
  }),
  fc.record({ op: fc.constant('refuse' as const), by, ...version }),
  fc.record({ op: fc.constant('reseal' as const), by, oldKid: kid, kid, record, ...version }),
);

/** Times are compared only by whether they are set. */
function comparable(row: Partial<ReferenceRow> | undefined): object | undefined {
  if (row === undefined) return undefined;
  const { attempt: _attempt, intentAttempt: _intentAttempt, leaseMs: lease, refusedMs, intentMs: _at, ...rest } = row;
  return {
    ...rest,
    hasLease: lease !== undefined,
    isRefused: rest.refusedGen !== undefined && refusedMs !== undefined,
  };
}

describe.each(engines)('$name', ({ isMissing, start }) => {
  let engine: Awaited<ReturnType<Engine['start']>> | undefined;
  beforeAll(async () => {
    if (!isMissing) engine = await start();
  });
  afterAll(() => engine?.stop());

  test.skipIf(isMissing)(
    'does what the reference does, for random sequences of operations',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operations, { minLength: 5, maxLength: 25 }), async (sequence) => {
          const store = engine!.open();
          let row: ReferenceRow | undefined;
          try {
            for (const operation of sequence) {
              const expected = applySharedOperation(row, operation, Date.now());
              row = expected.row;
              const actual = await store.run(operation);
              expect([operation, actual.applied, comparable(actual.row)]).toEqual([
                operation,
                expected.applied,
                comparable(row),
              ]);
            }
          } finally {
            await store.close();
          }
        }),
        { numRuns: 60 },
      );
    },
    120_000,
  );

  test.skipIf(isMissing)('many machines claim at once: one gets the lease', async () => {
    const first = engine!.open();
    const base = { epoch: 1, sid: 'aa', gen: 1 };
    await first.run({ op: 'commit', by: 'a', event: 'login', kid: 'k', record: 'r', ...base });
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        first.run({ op: 'claim', by: `ci-${at}`, attempt: `${at}`, leaseMs: 60_000, ...base }),
      ),
    );
    expect(claims.filter(({ applied }) => applied)).toHaveLength(1);
    await first.close();
  });

  test.skipIf(isMissing)('a commit of the stored version keeps a record with another key', async () => {
    const store = engine!.open();
    const version = { epoch: 1, sid: 'aa', gen: 1 };
    await store.run({ op: 'commit', by: 'a', event: 'login', kid: 'k1', record: 'r1', ...version });
    await store.run({ op: 'reseal', by: 'a', oldKid: 'k1', kid: 'k2', record: 'r2', ...version });
    const late = await store.run({ op: 'commit', by: 'b', event: 'publish', kid: 'k1', record: 'r1', ...version });
    expect(late).toMatchObject({ applied: true, row: { kid: 'k2', record: 'r2', activeKid: 'k2' } });
    const again = await store.run({ op: 'commit', by: 'b', event: 'publish', kid: 'k2', record: 'r3', ...version });
    expect(again).toMatchObject({ applied: true, row: { kid: 'k2', record: 'r3' } });
    await store.close();
  });

  test.skipIf(isMissing)('the log has the newest entry first', async () => {
    const store = engine!.open();
    await store.run({ op: 'commit', by: 'a', event: 'login', kid: 'k', record: 'r', epoch: 5, sid: 'aa', gen: 1 });
    await store.run({ op: 'claim', by: 'b', attempt: '1', leaseMs: 1, epoch: 5, sid: 'aa', gen: 1 });
    await store.run({ op: 'commit', by: 'b', event: 'refresh', kid: 'k', record: 'r', epoch: 5, sid: 'aa', gen: 2 });
    await store.run({ op: 'commit', by: 'b', event: 'refresh', kid: 'k', record: 'r', epoch: 5, sid: 'aa', gen: 2 });
    const entries = await store.readLog(10);
    expect(entries.map(({ event, by: who, gen }) => [event, who, gen])).toEqual([
      ['refresh', 'b', 2],
      ['claim', 'b', 1],
      ['login', 'a', 1],
    ]);
    expect(await store.readLog(1)).toHaveLength(1);
    await store.close();
  });
});
