import { expect, it } from 'vitest';
import { createUnreachableServers, describeUnreachableAddress } from '../../../src/db/inventory/connection.ts';
import type { AddressFacts, ConnectAttempt } from '../../../src/db/preflight/network/addresses.ts';

function facts(errors: readonly (string | undefined)[], more: Partial<AddressFacts> = {}): AddressFacts {
  const addresses = errors.map((_, at) => `192.0.2.${at}`);
  const found = { kind: 'found', addresses } as const;
  const connects = errors.map((error, at): ConnectAttempt => {
    const attempt = { address: addresses[at] ?? '', took: 1 };
    return error === undefined ? attempt : { ...attempt, error };
  });
  const names = { lookup: found, dns4: found, dns6: found };
  return { host: 'db1.example.com', port: 5432, kind: 'name', contradictions: [], ...names, connects, ...more };
}

it('sources of different hosts have the same reason, so that a report lists them together', () => {
  const other = facts(['ETIMEDOUT'], { host: 'db2.example.com', port: 5433 });
  expect(describeUnreachableAddress(facts(['ETIMEDOUT', 'ETIMEDOUT']))).toBe(describeUnreachableAddress(other));
  const all = ['ETIMEDOUT', 'ECONNREFUSED', 'EHOSTUNREACH', 'ABORTED', 'EODD'];
  expect(new Set(all.map((code) => describeUnreachableAddress(facts([code])))).size).toBe(all.length);
  for (const code of all) expect(describeUnreachableAddress(facts([code]))).not.toMatch(/example|5432|192\.0\.2/);
});

it('the lookup counts before connections, and there is no reason if an address accepts one', () => {
  const lookup = { kind: 'failed', code: 'ENOTFOUND', reason: 'gone' } as const;
  expect(describeUnreachableAddress(facts([], { lookup }))).toMatch(/: gone$/);
  expect(describeUnreachableAddress(facts(['ECONNREFUSED', undefined]))).toBeUndefined();
});

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
