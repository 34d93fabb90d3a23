import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { connectionString } from '../../../../src/db/engine/postgresql/objects.ts';
import { parseConnectionString } from '../../../../src/postgresql/connection-string.ts';

test('every value is read back as it was, whatever it holds', () => {
  const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((value) => !value.includes('\0'));
  fc.assert(
    fc.property(text, text, text, (dbname, username, password) => {
      const written = connectionString(
        {
          host: '::1',
          port: 5,
          dbname,
          username,
          password: new Secret(password),
          ssl: 'require',
        },
        160_000,
      );
      const read = parseConnectionString(written, 'it');
      const wanted = {
        host: '::1',
        port: '5',
        dbname,
        user: username,
        password,
        sslmode: 'require',
        connect_timeout: '10',
      };
      expect(Object.fromEntries(read)).toEqual(wanted);
    }),
  );
});

test('clear text is refused by a target that can, unless the source may have it', () => {
  const source = { host: '198.51.100.7', port: 5, dbname: 'd', username: 'u', ssl: 'require' } as const;
  const password = new Secret('p');
  const written = (more = {}, version = 160_000) => connectionString({ ...source, password, ...more }, version);
  expect(written()).toContain("require_auth='!password'");
  expect(written({}, 159_999)).not.toContain('require_auth');
  expect(written({ allowCleartextPassword: true })).not.toContain('require_auth');
  expect(written({ host: 'localhost' })).not.toContain('require_auth');
  expect(written({ verify: { what: 'full' } })).not.toContain('require_auth');
});
