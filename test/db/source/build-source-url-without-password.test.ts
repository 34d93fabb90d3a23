import { expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import type { DbSource } from '../../../src/db/source/options.ts';
import { sourceUrlText, targetUrlText } from '../../../src/db/source/words.ts';

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
  expect(sourceUrlText(source)).toBe(url);
});

it.each([
  ['verify-full', undefined, 'sslmode=verify-full'],
  ['verify-ca', '/etc/ca.pem', 'sslmode=verify-ca&sslrootcert=%2Fetc%2Fca.pem'],
] as const)('a suggested command keeps sslmode=%s', (mode, file, query) => {
  const what = mode === 'verify-full' ? ('full' as const) : ('chain' as const);
  const verify = { what, ...(file === undefined ? {} : { ca: { file, pem: '' } }) };
  const server = { host: 'h', port: 1, dbname: 'd', username: 'u', password, ssl: 'require', verify } as const;
  for (const url of [sourceUrlText, targetUrlText])
    expect(url({ engine: 'postgresql', source: server })).toBe(`postgres://u@h:1/d?${query}`);
});

it('the URL of a target without TLS says so, because no other option does', () => {
  const server = { host: 'h', port: 1, dbname: 'd', username: 'u', password, ssl: 'disable' } as const;
  expect(targetUrlText({ engine: 'postgresql', source: server })).toBe('postgres://u@h:1/d?sslmode=disable');
  expect(sourceUrlText({ engine: 'postgresql', source: server })).toBe('postgres://u@h:1/d');
});
