import { expect, test } from 'vitest';
import { computeActivity } from '../../../../src/db/preflight/redis/collect.ts';

const none = { bytes: 0, commands: 0 };
const facts = (values: Readonly<Record<string, string>>) => new Map(Object.entries(values));

test('the replication stream is measured when there is one', () => {
  const before = facts({
    repl_backlog_active: '1',
    master_repl_offset: '1000',
    total_net_input_bytes: '0',
    evicted_keys: '1',
  });
  const after = facts({
    repl_backlog_active: '1',
    master_repl_offset: '5000',
    total_net_input_bytes: '9000',
    evicted_keys: '21',
  });
  expect(computeActivity(before, after, 2, { bytes: 100, commands: 0 })).toEqual({
    writes: 2000,
    source: 'stream',
    evicted: 10,
    expired: 0,
  });
});

test('without one it is all that came in, less what we sent', () => {
  const before = facts({ repl_backlog_active: '0', master_repl_offset: '0', total_net_input_bytes: '500' });
  const after = facts({ repl_backlog_active: '0', master_repl_offset: '0', total_net_input_bytes: '900' });
  expect(computeActivity(before, after, 2, { bytes: 100, commands: 0 })).toMatchObject({
    writes: 150,
    source: 'network',
  });
  expect(computeActivity(before, before, 2, { bytes: 100, commands: 0 })).toMatchObject({ writes: 0 });
});

test('where most commands change something, what came in is what is written', () => {
  const before = facts({ total_net_input_bytes: '0', rdb_changes_since_last_save: '0', total_commands_processed: '0' });
  const after = (changes: string) =>
    facts({ total_net_input_bytes: '9000', rdb_changes_since_last_save: changes, total_commands_processed: '100' });
  expect(computeActivity(before, after('40'), 1, { bytes: 0, commands: 20 })).toMatchObject({
    writes: 9000,
    source: 'writes',
  });
  expect(computeActivity(before, after('49'), 1, none)).toMatchObject({ writes: 9000, source: 'network' });
});

test('a server that does not count says nothing', () => {
  expect(computeActivity(facts({}), facts({}), 1, none)).toEqual({
    writes: undefined,
    source: 'network',
    evicted: 0,
    expired: 0,
  });
});
