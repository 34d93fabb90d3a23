import { describe, expect, it } from 'vitest';
import { parseSharedStoreUrl } from '../../src/shared-store/store-url.ts';

const noFile = (): undefined => undefined;

describe('the URL of the store', () => {
  it.each([
    ['postgres://ci:pw@db.example.com/fleet', 'postgresql', { ssl: 'require', verify: { what: 'full' } }],
    [
      'postgres://ci:pw@db.example.com/fleet?sslmode=require',
      'postgresql',
      { ssl: 'require', verify: { what: 'full' } },
    ],
    ['postgresql://ci:pw@127.0.0.1:5433/fleet', 'postgresql', { ssl: 'disable', port: 5433, dbname: 'fleet' }],
    ['postgres://ci:pw@localhost/fleet?sslmode=require', 'postgresql', { ssl: 'require' }],
    ['rediss://ci:pw@cache.example.com', 'redis', { ssl: 'require', isVerified: true }],
    ['postgres://ci:pw@localhost/fleet?host=192.0.2.7', 'postgresql', { ssl: 'require', verify: { what: 'full' } }],
    ['postgres://ci:pw@db.example.com/fleet?sslmode=prefer', 'postgresql', { verify: { what: 'full' } }],
    ['redis://localhost:6380/2', 'redis', { ssl: 'disable', port: 6380, db: 2 }],
  ])('%s', (url, engine, source) => {
    expect(parseSharedStoreUrl(url, noFile)).toMatchObject({ engine, source });
  });

  it.each([
    undefined,
    'mysql://secret-word@db/fleet',
    'postgres://ci:secret-word@db.example.com/fleet?sslmode=disable',
    'postgres:///fleet?user=secret-word',
    'postgres://ci:secret-word@db.example.com:99999/fleet',
    'redis://ci:secret-word@cache.example.com',
    'rediss://ci:secret-word@/0',
    'postgres://ci:secret-word@localhost/fleet?hostaddr=192.0.2.7',
    'postgres://ci:secret-word@127.0.0.1,192.0.2.7/fleet',
    'postgres://ci:secret-word@db.example.com/fleet?sslmode=secret-word',
    'postgres://ci:secret-word@db.example.com/fleet?unknown=secret-word',
    'postgres://ci:secret-word%zz@db.example.com/fleet',
    'postgres://ci:secret-word@127.0.0.1#@cache.example.com/fleet',
    'redis://ci:secret-word@127.0.0.1#@cache.example.com/0',
    'redis://ci:secret-word@127.0.0.1\\@cache.example.com/0',
    'redis://ci:secret-word@cache.example.com:99999',
    'rediss://ci:secret-word@cache.example.com/0?x=secret-word',
  ])('%s is refused without quoting the password', (url) => {
    let failure: unknown;
    try {
      parseSharedStoreUrl(url, noFile);
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ code: 'usage' });
    expect(JSON.stringify([String(failure), Object.entries(failure ?? {})])).not.toContain('secret-word');
  });
});
