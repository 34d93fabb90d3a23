import { expect, test } from 'vitest';
import { rateOf } from '../../../src/preflight/redis/rate.ts';

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
  expect(rateOf(before, after, 2, 100)).toEqual({ writes: 2000, source: 'stream', evicted: 10, expired: 0 });
});

test('without one it is all that came in, less what we sent', () => {
  const before = facts({ repl_backlog_active: '0', master_repl_offset: '0', total_net_input_bytes: '500' });
  const after = facts({ repl_backlog_active: '0', master_repl_offset: '0', total_net_input_bytes: '900' });
  expect(rateOf(before, after, 2, 100)).toMatchObject({ writes: 150, source: 'network' });
  expect(rateOf(before, before, 2, 100)).toMatchObject({ writes: 0 });
});

test('a server that does not count says nothing', () => {
  expect(rateOf(facts({}), facts({}), 1, 0)).toEqual({ writes: undefined, source: 'network', evicted: 0, expired: 0 });
});
