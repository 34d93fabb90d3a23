import { expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import type { DbSource } from '../../../src/db/source/options.ts';
import {
  manualCopyCommands,
  sourceUrlText,
  sourceWords,
  targetUrlText,
  unreachableHint,
} from '../../../src/db/source/words.ts';
import { clientErrorCodes } from '../../../src/platform/network-errors.ts';
import { parsePostgresqlEndpoint } from '../../../src/postgresql/endpoint.ts';

const sourceOf = (options: object) =>
  ({ engine: 'postgresql', source: parsePostgresqlEndpoint(options, () => undefined).source }) as const;

it('names the source without its password, and the options that change the connection', () => {
  const source = sourceOf({ source: 'postgres://u:hunter2@h/d', disableSsl: true, allowCleartextPassword: true });
  const args = sourceWords(source, { ignoreDbs: ['a b', 'c'], caFile: '/tmp/ca file.pem' });
  expect(args).toEqual([
    ...['--source', 'postgres://u@h:5432/d', '--disable-ssl', '--ca-file', "'/tmp/ca file.pem'"],
    ...['--allow-cleartext-password', '--ignore-dbs', "'a b,c'"],
  ]);
});

it('quotes names that a shell would interpret', () => {
  const args = sourceWords(sourceOf({ source: "postgres://u@h/a'b" }));
  expect(args[1]).not.toMatch(/^[^']*'[^']*$/);
});

it('--ca-file verifies the host name, so the address does not repeat it', () => {
  const source = sourceOf({ source: 'postgres://u@h/d?sslmode=verify-full' });
  expect(sourceWords(source)[1]).toContain('sslmode=verify-full');
  expect(sourceWords(source, { caFile: 'ca.pem' })).toEqual([
    '--source',
    'postgres://u@h:5432/d',
    '--ca-file',
    'ca.pem',
  ]);
});

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

it('names and databases with anything in them are words of a shell, and the password is not among them', () => {
  const source = {
    host: 'db.example.com',
    port: 5433,
    dbname: `My "d'b"; rm -rf $HOME`,
    username: 'mover',
    password: new Secret('hunter2'),
    ssl: 'require',
  } as const;
  const text = manualCopyCommands({ engine: 'postgresql', source });
  expect(text).toContain(
    `-h db.example.com -p 5433 -U mover -d postgresql:///My%20%22d%27b%22%3B%20rm%20%2Drf%20%24HOME `,
  );
  expect(text).not.toContain('hunter2');
});

it.each(['host=evil dbname=x', 'postgres://evil/x', '-x', 'a\nb'])('pg_dump reads the name %j as a name', (dbname) => {
  const source = { host: 'h', port: 5432, dbname, username: 'mover', password: undefined, ssl: 'require' } as const;
  const [, argument = ''] = / -d (\S+) /.exec(manualCopyCommands({ engine: 'postgresql', source })) ?? [];
  expect(decodeURIComponent(argument)).toBe(`postgresql:///${dbname}`);
});

it('Redis is asked over TLS when the source is', () => {
  const source = {
    host: 'h',
    port: 6379,
    username: undefined,
    password: undefined,
    db: undefined,
    ssl: 'require',
  } as const;
  expect(manualCopyCommands({ engine: 'redis', source })).toContain('redis-cli -h h -p 6379 --tls --rdb dump.rdb');
  expect(manualCopyCommands({ engine: 'redis', source: { ...source, ssl: 'disable' } })).not.toContain('--tls');
});

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
  expect(unreachableHint(source, clientErrorCodes.noTls)).toContain(expected);
});
