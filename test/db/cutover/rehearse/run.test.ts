import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { closedPort } from '../../../../scripts/free-port.mjs';
import { startRehearsalWatch } from '../../../../src/db/cutover/rehearse/catch-up.ts';
import { rehearsalPreflightOptions } from '../../../../src/db/cutover/rehearse/driver.ts';
import { buildReport, printReport, rehearsalError } from '../../../../src/db/cutover/rehearse/output.ts';
import { createRecordFile, rehearsalPath } from '../../../../src/db/cutover/rehearse/record.ts';
import { lockRehearsal, openRehearsal, warnAboutLeftovers } from '../../../../src/db/cutover/rehearse/run.ts';
import { argsFrom, commandIo } from '../../../fixtures/command-io.ts';
import { testHost } from '../../../fixtures/host.ts';
import { postgresqlTarget } from '../../preflight/postgresql/facts.ts';

const redisAt = (port: number) =>
  ({
    engine: 'redis',
    source: { host: '127.0.0.1', port, username: undefined, password: undefined, db: undefined, ssl: 'disable' },
  }) as const;

const record = {
  ...{ id: 'r1', engine: 'redis' as const, source: 'a:1', target: 'b:2', command: 'cloudctl db rehearse', system: '' },
  ...{ databases: [], roles: [], filled: [], objects: [] },
} as const;

function runBetween(io: ReturnType<typeof commandIo>, source: number, target: number) {
  const options = { args: argsFrom({}), signal: new AbortController().signal, keep: false };
  const times = { stallTimeout: 1000, interval: 1000 };
  return openRehearsal(io, { source: redisAt(source), target: redisAt(target), ...options, ...times });
}

it('a second rehearsal of the same pair is busy, and another pair is not', async () => {
  const io = commandIo(testHost());
  const first = await runBetween(io, 1, 2);
  await expect(runBetween(io, 1, 2)).rejects.toMatchObject({ code: 'busy' });
  await (await runBetween(io, 1, 3)).close();
  await first.close();
  await (await runBetween(io, 1, 2)).close();
});

it('a rehearsal of another source into the same target is busy, and its error names the running one', async () => {
  const io = commandIo(testHost());
  const first = await runBetween(io, 1, 2);
  const busy = { code: 'busy', detail: expect.stringContaining('127.0.0.1:1 into 127.0.0.1:2') };
  await expect(runBetween(io, 3, 2)).rejects.toMatchObject(busy);
  await first.close();
  // The second rehearsal has released the lock of its own source and target.
  await (await runBetween(io, 3, 2)).close();
});

it('a target that cannot be reached is an error before anything is created', async () => {
  const run = await runBetween(commandIo(testHost()), await closedPort(), await closedPort());
  await expect(run.inspectTarget()).rejects.toMatchObject({ code: 'unreachable' });
  expect(run.leftovers()).toEqual([]);
  await run.close();
});

it('a damaged record of an earlier rehearsal stops the next one, and stays', async () => {
  const host = testHost();
  const path = rehearsalPath(host.folders.state, '127.0.0.1:1', '127.0.0.1:2');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '{');
  const run = await runBetween(commandIo(host), 1, 2);
  await expect(run.inspectTarget()).rejects.toMatchObject({ code: 'config_invalid', detail: path });
  await run.close();
});

it('interrupted rehearsals of other pairs are a warning with their command, running ones are not', async () => {
  const host = testHost();
  const [interrupted, running] = ['a', 'b'].map((name) => rehearsalPath(host.folders.state, name, name));
  for (const path of [interrupted, running]) createRecordFile(path ?? '', { ...record, command: `again ${path}` });
  const lock = lockRehearsal(running ?? '');
  await warnAboutLeftovers(commandIo(host), 'current');
  lock.release();
  expect(host.err()).toContain(`again ${interrupted}`);
  expect(host.err()).not.toContain(`again ${running}`);
});

it('the preflight takes version and extensions from the target, and accepts private addresses', () => {
  const settings = { profileName: 'default', values: {} } as Parameters<typeof rehearsalPreflightOptions>[1];
  const args = argsFrom({ 'target-version': ['99'] });
  const facts = { version: '17', postgresql: postgresqlTarget({ login: 'mover', isSuperuser: false }) };
  const target = { ...redisAt(2), engine: 'redis' } as const;
  expect(rehearsalPreflightOptions(args, settings, 0, target, facts)).toMatchObject({
    targetVersion: '17',
    isOverInternet: false,
    target: { host: '127.0.0.1', port: 2, postgresql: { login: 'mover', isSuperuser: false } },
  });
});

it('a watch of a source that does not respond ends without violations', async () => {
  const source = redisAt(await closedPort());
  const watch = await startRehearsalWatch(commandIo(testHost()), { source, ignoreDbs: [], slots: [], interval: 1000 });
  expect(await watch.stop()).toEqual(expect.any(Array));
});

it('a report with failures or leftovers is not ok, and its error is exit 1', async () => {
  const host = testHost();
  const server = { host: 'h', port: 1, version: '17' };
  const parts = {
    ...{ databases: [], errors: ['it broke'], warnings: [], violations: [], leftovers: [] },
    ...{ preflight: { engine: 'postgresql' } as Parameters<typeof buildReport>[0]['preflight'] },
    ...{
      method: 'dump' as const,
      kept: false,
      servers: { source: server, target: server },
      startedAt: 0,
      endedAt: 2500,
    },
  } as const;
  const report = buildReport(parts);
  expect(report).toMatchObject({ ok: false, seconds: 2.5, failures: [{ reason: 'it broke' }], source: server });
  expect(rehearsalError(report)).toMatchObject({ code: 'rehearsal_failed', exitCode: 1, detail: 'it broke' });
  await printReport(commandIo(host, 'json'), report);
  expect(host.json()).toMatchObject({ ok: false, started_at: '1970-01-01T00:00:00.000Z' });
});
