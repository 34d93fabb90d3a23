import { expect, it } from 'vitest';
import { decodeInstance, firstInstanceQuery } from '../../../../../src/db/preflight/postgresql/queries/cluster.ts';

const row = { system_identifier: '7711390199590428662', in_recovery: 'f', started: '1795447946.041056', read_at: '1' };

it('the properties of a server are decoded', () => {
  expect(decodeInstance(row)).toMatchObject({
    systemIdentifier: '7711390199590428662',
    inRecovery: false,
    started: 1_795_447_946.041056,
  });
  expect(firstInstanceQuery.decode([])).toBeUndefined();
});
