import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { createSemaphore } from '../../../../src/db/engine/postgresql/context.ts';
import { connectionString } from '../../../../src/db/engine/postgresql/objects.ts';
import { scramVerifier } from '../../../../src/db/engine/postgresql/target.ts';
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

test('the verifier is that of RFC 7677', () => {
  // The example of the RFC: user `user`, password `pencil`; its server signature follows from this server key.
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
});

test('no more than its width are inside at once, all come in, and one that fails makes room', async () => {
  const gate = createSemaphore(3);
  let [inside, most, done] = [0, 0, 0];
  const work = (fails: boolean) =>
    gate(async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 1));
      inside -= 1;
      done += 1;
      if (fails) throw new Error('no');
    });
  const all = await Promise.allSettled(Array.from({ length: 30 }, (_, at) => work(at % 2 === 0)));
  expect([most, done, all.filter(({ status }) => status === 'rejected').length]).toEqual([3, 30, 15]);
});
