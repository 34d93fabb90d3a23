import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listStarted, pathOfRecord, writeRecord } from '../../../src/db/watch/record.ts';

import { testHost } from '../../fixtures/host.ts';

it('lists what this machine started, the latest first, and nothing else', () => {
  const { state } = testHost().folders;
  expect(listStarted(state)).toEqual([]);
  const add = (host: string, at?: number): void =>
    writeRecord(pathOfRecord(state, { engine: 'redis', host, port: 1 }), {
      engine: 'redis',
      source: `${host}:1`,
      ...(at === undefined ? {} : { started: { at, cluster: `c-${host}`, id: host, identity: {} } }),
    });
  add('old', 1000);
  add('new', 2000);
  add('only-watched');
  for (const name of ['sent-1.json', `${'a'.repeat(32)}.json`]) writeFileSync(join(state, 'migrations', name), '{');
  expect(listStarted(state).map(({ started }) => started.cluster)).toEqual(['c-new', 'c-old']);
});
