import fc from 'fast-check';
import { expect, test } from 'vitest';
import { subscriptionConninfo } from '../../../src/engine/postgresql/subscription-conninfo.ts';
import { parseConnectionString } from '../../../src/postgresql/connection-string.ts';
import { Secret } from '../../../src/secret.ts';

test('every value is read back as it was, whatever it holds', () => {
  const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((value) => !value.includes('\0'));
  fc.assert(
    fc.property(text, text, text, (dbname, username, password) => {
      const written = subscriptionConninfo({
        host: '::1',
        port: 5,
        dbname,
        username,
        password: new Secret(password),
        ssl: 'require',
      });
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
