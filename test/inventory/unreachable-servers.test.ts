import { expect, it } from 'vitest';
import { createUnreachableServers } from '../../src/inventory/unreachable-servers.ts';

it('a server is not tried again after two failures, unless one attempt has succeeded', () => {
  const servers = createUnreachableServers<string>();
  servers.add('a', 'first', true);
  expect(servers.find('a')).toBeUndefined();
  servers.add('a', 'second', true);
  expect(servers.find('a')).toBe('second');
  expect(servers.find('b')).toBeUndefined();
  servers.add('a', 'third', false);
  expect(servers.find('a')).toBeUndefined();
});
