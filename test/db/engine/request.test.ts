import { describe, expect, test } from 'vitest';
import {
  isServerSource,
  parsePostgresSource,
  parseRedisSource,
  type RequestedSource,
} from '../../../src/db/engine/request.ts';
import { expectGolden } from '../../fixtures/golden.ts';

const whole = { host: 'db.example.com', port: 6000, dbname: 'd', username: 'u', password: "p'w", disableSsl: false };

describe('the source of a request', () => {
  test('is entered as it says, over TLS unless it says otherwise', () => {
    const read = parsePostgresSource(whole);
    if (!read.ok) throw new Error(read.message);
    expect(read.source).toMatchObject({
      host: 'db.example.com',
      port: 6000,
      dbname: 'd',
      username: 'u',
      ssl: 'require',
    });
    expect(read.source.password?.reveal()).toBe("p'w");
    expect(parsePostgresSource({ ...whole, disableSsl: true })).toMatchObject({
      ok: true,
      source: { ssl: 'disable' },
    });
  });

  test('may be a connection string in the host field', () => {
    const read = parsePostgresSource({ host: 'postgres://u:p%40@[::1]:7000/d', disableSsl: false });
    if (!read.ok) throw new Error(read.message);
    expect(read.source).toMatchObject({ host: '::1', port: 7000, dbname: 'd', username: 'u' });
    expect(read.source.password?.reveal()).toBe('p@');
  });

  test.each([
    ['db.example.com', 6000, true],
    ['DB.example.com.', 6000, true],
    ['db.example.com', 6001, false],
    ['other.example.com', 6000, false],
    ['postgres://u@db.example.com:6000/d', undefined, true],
  ])('%s, port %s leads to db.example.com:6000: %s', (host, port, expected) => {
    const requested = { ...whole, host, ...(port === undefined ? { port: 6000 } : { port }) };
    const { port: _, ...withoutPort } = requested;
    const server = { engine: 'postgresql', host: 'db.example.com', port: 6000 } as const;
    expect(isServerSource(port === undefined ? withoutPort : requested, server)).toBe(expected);
  });

  test.each(['localhost', '127.0.0.1', '127.1.2.3', '[::1]'])('%s is every loopback address', (host) => {
    const server = { engine: 'redis', host: '::1', port: 6379 } as const;
    expect(isServerSource({ host, disableSsl: true }, server)).toBe(true);
  });

  test('of Redis needs no user, and an empty password is none', () => {
    const read = parseRedisSource({ host: 'r.example.com', password: '', disableSsl: true });
    expect(read).toMatchObject({ ok: true, source: { host: 'r.example.com', port: 6379, ssl: 'disable' } });
    expect(read.ok && read.source.password).toBe(undefined);
  });

  test('that is not valid is refused without quoting the password', () => {
    const refused = parsePostgresSource({
      host: 'db.example.com',
      dbname: 'd',
      password: 'S3cretWord',
      disableSsl: false,
    });
    expect(refused.ok).toBe(false);
    expectGolden('db-migrate', refused.ok ? '' : refused.message);
    expect(parseRedisSource({ host: '/tmp/redis.sock', disableSsl: false }).ok).toBe(false);
  });

  test.each<[string, Partial<RequestedSource>]>([
    ['no user', { username: '' }],
    ['no database', { dbname: '' }],
    ['no host', { host: ' ' }],
    ['a port in the host', { host: 'db.example.com:5432' }],
    ['two hosts', { host: 'a.example.com,b.example.com' }],
    ['two hosts in a URL', { host: 'postgres://u@a,b/d' }],
    ['a port out of range', { port: 0 }],
    ['a URL against a field', { host: 'postgres://other@db.example.com/d' }],
    ['TLS against a field', { host: 'postgres://u@db.example.com/d?sslmode=require', disableSsl: true }],
    ['an unknown sslmode', { host: 'postgres://u@db.example.com/d?sslmode=maybe' }],
    ['an unknown parameter', { host: 'postgres://u@db.example.com/d?what=1' }],
    ['a file of this machine', { host: 'postgres://u@db.example.com/d?sslmode=verify-full&sslrootcert=/etc/passwd' }],
    ['another scheme', { host: 'mysql://u@db.example.com/d' }],
    ['a URL of Redis with TLS', { host: 'rediss://db.example.com', disableSsl: true }],
    ['a database that is no number', { host: 'redis://db.example.com/x' }],
    ['a port twice', { host: 'redis://db.example.com:1', port: 2 }],
  ])('%s is refused in words of the request, without an option of a command', (_name, change) => {
    const requested = { ...whole, ...change };
    const messages = [parsePostgresSource(requested), parseRedisSource(requested)].flatMap((read) =>
      read.ok ? [] : [read.message],
    );
    expect(messages.length).toBeGreaterThan(0);
    for (const message of messages) {
      expect(message).not.toMatch(/--|CLOUDCTL/);
      expect(message).toMatch(/source\.(host|port|dbname|username)|disable_ssl/);
    }
    expectGolden('db-migrate', messages.join('\n'));
  });

  test.each(['host=x dbname=y', 'db.example.com:6379', '127.0.0.1:6379', 'redis://a b'])(
    'of Redis is not %s',
    (host) => {
      expect(parseRedisSource({ host, disableSsl: true })).toMatchObject({ ok: false });
    },
  );
});
