import { expect, test } from 'vitest';
import { follows, settingsFor } from '../../../src/engine/redis/target.ts';
import { readInfo } from '../../../src/redis/info.ts';
import type { RedisSource } from '../../../src/redis/source.ts';
import { Secret } from '../../../src/secret.ts';

const source: RedisSource = {
  host: 'cache.example.com',
  port: 6380,
  username: 'mover',
  password: new Secret('hunter22'),
  db: undefined,
  ssl: 'require',
};

test('a target enters the source as the person would', () => {
  expect(settingsFor(source)).toEqual({ masteruser: 'mover', masterauth: 'hunter22', 'tls-replication': 'yes' });
  const open = { ...source, username: undefined, password: undefined, ssl: 'disable' } as const;
  expect(settingsFor(open)).toEqual({ masteruser: '', masterauth: '', 'tls-replication': 'no' });
});

test('a replica of another server, or none, does not follow the source', () => {
  const info = (role: string, host: string, port: number) =>
    readInfo(`role:${role}\nmaster_host:${host}\nmaster_port:${port}\n`);
  expect(follows(info('slave', 'cache.example.com', 6380), source)).toBe(true);
  expect(follows(info('slave', '192.0.2.1', 6380), { ...source, address: '192.0.2.1' })).toBe(true);
  expect(follows(info('slave', 'cache.example.com', 6379), source)).toBe(false);
  expect(follows(info('slave', 'other.example.com', 6380), source)).toBe(false);
  expect(follows(info('master', 'cache.example.com', 6380), source)).toBe(false);
});
