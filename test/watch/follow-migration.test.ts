import { expect, it } from 'vitest';
import { sourceNameOf, watchMigration } from '../../src/watch/follow-migration.ts';
import { closedPort } from '../commands/db/test-source.ts';
import { commandIo } from '../fixtures/command-io.ts';
import { testHost } from '../fixtures/host.ts';

const redisAt = (port: number) =>
  ({
    engine: 'redis',
    source: { host: '127.0.0.1', port, username: undefined, password: undefined, db: undefined, ssl: 'disable' },
  }) as const;

it('a source that was never reached ends the watch with an error', async () => {
  const watch = watchMigration(commandIo(testHost()), {
    source: redisAt(await closedPort()),
    ...{ interval: 1000, untilIdle: false, ignoreDbs: [], slots: [], showQueries: false, caFile: undefined },
  });
  await expect(watch).rejects.toMatchObject({ code: 'source_unreachable', exitCode: 3 });
});

it('a source is identified by engine, address and database', () => {
  expect(sourceNameOf(redisAt(1))).toEqual({ engine: 'redis', host: '127.0.0.1', port: 1 });
});
