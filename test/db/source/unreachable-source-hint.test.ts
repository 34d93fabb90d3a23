import { expect, it } from 'vitest';
import type { DbSource } from '../../../src/db/source/options.ts';
import { unreachableHint } from '../../../src/db/source/words.ts';
import { clientSideDatabaseErrorCodes } from '../../../src/platform/network-errors.ts';

const address = { host: 'db.example.com', username: 'mover', password: undefined, ssl: 'require' } as const;
const postgresql: DbSource = { engine: 'postgresql', source: { ...address, port: 5432, dbname: 'shop' } };
const redis: DbSource = { engine: 'redis', source: { ...address, port: 6379, db: undefined } };

it('the hint has the command with the options of the source that preflight takes', () => {
  const hint = unreachableHint(postgresql, 'ECONNREFUSED', { ignoreDbs: ['old'] });
  expect(hint).toContain('cloudctl db preflight --source postgres://mover@db.example.com:5432/shop --ignore-dbs old');
});

it.each([
  [postgresql, '--disable-ssl'],
  [redis, 'redis://'],
] as const)('the hint for a server without TLS has what turns TLS off (%#)', (source, expected) => {
  expect(unreachableHint(source, clientSideDatabaseErrorCodes.noTls)).toContain(expected);
});
