import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../../../src/db/engine/engine.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import {
  copySimpleSchema,
  objectsOn,
  shortEngineLimits,
  startSource,
  startTarget,
  subscriptionsOn,
  waitForState,
} from './servers.ts';

test('an engine that closes ends its migrations; the next one removes what a killed one has left, by its journal', async () => {
  const [source, target] = await Promise.all([startSource({ tls: true }), startTarget()]);
  await source.query('CREATE TABLE t (id int PRIMARY KEY)');
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-engine-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const journal = join(folder, 'engine');
  const make = (path: string) =>
    createEngine({
      journal: path,
      now: Date.now,
      ports: { schemaCopy: copySimpleSchema, limits: shortEngineLimits },
    });
  const first = make(journal);
  // It says nothing of TLS, and the server has none.
  const plane = await first.openDataPlane(`postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres`);
  expect(plane).toMatchObject({ engine: 'postgresql', port: target.port, version: expect.stringMatching(/^17\./) });
  const asked = { host: '127.0.0.1', port: source.port, dbname: 'postgres', username: 'postgres' };
  const migration = first.start({
    id: randomUUID(),
    dataPlane: plane,
    source: { ...asked, password: source.password, disableSsl: false },
    ignoreDbs: [],
    deadline: Number.POSITIVE_INFINITY,
    finishWhenIdle: false,
  });
  if (typeof migration === 'string') throw new Error(migration);
  await waitForState(migration, ({ status }) => status === 'syncing');
  const copy = join(folder, 'copy');
  // What a process would find that comes after a kill at this moment.
  writeFileSync(copy, readFileSync(journal));
  const next = make(copy);
  expect(await next.cleanUp()).toEqual([]);
  expect(await objectsOn(source)).toEqual([]);
  expect(await subscriptionsOn(target)).toEqual([]);
  expect(await next.cleanUp()).toEqual([]);
  await next.close();
  const { status, reason } = await migration.ended;
  expect(status).toBe('error');
  expectGolden('db-migrate', reason ?? '');
  await first.close();
  expect(existsSync(journal)).toBe(true);
});

test('an address that cannot be read is refused in words that quote nothing of it', async () => {
  const engine = createEngine({ now: Date.now });
  for (const url of [
    'mysql://u:S3cretWord@h/d',
    'postgres://u:S3cret Word%@h/d',
    'redis://u:S3cretWord@:x',
    'S3cretWord',
  ]) {
    const refusal = await engine.openDataPlane(url).catch((error: unknown) => String(error));
    expect(refusal).toMatch(/^MigrationError: /);
    expect(refusal).not.toContain('S3cret');
  }
});
