import { stripVTControlCharacters } from 'node:util';
import { expect, it, vi } from 'vitest';
import { startRehearsalWatch } from '../../../../src/db/cutover/rehearse/catch-up.ts';
import { commandIo } from '../../../fixtures/command-io.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { testHost } from '../../../fixtures/host.ts';
import { startRedis } from '../../../fixtures/redis.ts';

it('the screen says that Ctrl-C ends the rehearsal, and has no deadline of the service', async () => {
  const server = await startRedis();
  try {
    const host = testHost({ terminal: 80 });
    const address = { host: server.host, port: server.port, username: undefined, password: undefined, db: undefined };
    const source = { engine: 'redis', source: { ...address, ssl: 'disable' } } as const;
    const watch = await startRehearsalWatch(commandIo(host), { source, ignoreDbs: [], slots: [], interval: 1000 });
    await vi.waitFor(() => expect(host.err()).toContain('Ctrl-C'), { timeout: 20_000 });
    await watch.stop();
    const lines = stripVTControlCharacters(host.err()).split(/\r?\n/);
    // The next poll begins on the last line of the screen.
    const [footer] = lines.find((line) => line.startsWith('Ctrl-C'))?.split('rehearsal of ') ?? [];
    expectGolden('db-rehearse', `${lines[3]}\n${footer}\n`);
  } finally {
    await server.stop();
  }
});
