import { expect, it } from 'vitest';
import type { DbSource } from '../../src/db-source/read-source.ts';
import { sourceUrl } from '../../src/db-source/source-url.ts';
import { Secret } from '../../src/secret.ts';

const password = new Secret('hunter2');

it.each<[DbSource, string]>([
  [
    {
      engine: 'postgresql',
      source: { host: 'db.example.com', port: 5432, dbname: 'a b', username: 'm@x', password, ssl: 'require' },
    },
    'postgres://m%40x@db.example.com:5432/a%20b',
  ],
  [
    {
      engine: 'redis',
      source: { host: '::1', port: 6379, username: undefined, db: undefined, password, ssl: 'disable' },
    },
    'redis://[::1]:6379',
  ],
  [
    {
      engine: 'redis',
      source: { host: 'h', port: 6380, username: 'u', db: undefined, password: undefined, ssl: 'require' },
    },
    'rediss://u@h:6380',
  ],
])('the URL of a source has everything but the password', (source, url) => {
  expect(sourceUrl(source)).toBe(url);
});
