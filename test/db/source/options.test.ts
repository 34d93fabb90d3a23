import { expect, it } from 'vitest';
import { readSource, sourceOptionSpecs } from '../../../src/db/source/options.ts';
import { argsFrom, commandIo } from '../../fixtures/command-io.ts';
import { testHost } from '../../fixtures/host.ts';

type Options = Readonly<Record<string, readonly string[]>>;

function read(options: Options, env: Readonly<Record<string, string>> = {}, stdin = '') {
  return readSource(commandIo(testHost({ env, stdin })), argsFrom(options, [], sourceOptionSpecs));
}

it('the scheme of the address selects the engine', async () => {
  const postgres = await read({ source: ['postgres://u@h:1/d'] }, { PGPASSWORD: 'p' });
  expect(postgres).toMatchObject({ engine: 'postgresql', source: { host: 'h', port: 1, dbname: 'd', username: 'u' } });
  const redis = await read({ source: ['rediss://h'] });
  expect(redis).toMatchObject({ engine: 'redis', source: { host: 'h', port: 6379, ssl: 'require' } });
});

it.each(['source', 'host'])('a string of libpq keywords in --%s is of PostgreSQL', async (option) => {
  const found = await read({ [option]: ['host=h port=1 dbname=d user=u'] }, { PGPASSWORD: 'p' });
  expect(found).toMatchObject({ engine: 'postgresql', source: { host: 'h', port: 1, dbname: 'd', username: 'u' } });
});

it('CLOUDCTL_SOURCE names the source when no option does', async () => {
  expect(await read({}, { CLOUDCTL_SOURCE: 'redis://cache' })).toMatchObject({ source: { host: 'cache' } });
});

it('a password is read from standard input without its line end', async () => {
  const { source } = await read({ source: ['redis://h'], 'password-stdin': [''] }, {}, ' secret \r\n');
  expect(source.password?.reveal()).toBe(' secret ');
});

it.each<[string, Options]>([
  ['no source', {}],
  ['an unknown scheme', { source: ['mysql://h'] }],
  ['a host without an engine', { host: ['h'] }],
  ['an engine that contradicts the address', { source: ['redis://h'], engine: ['postgresql'] }],
  ['databases to skip with Redis', { source: ['redis://h'], 'ignore-dbs': ['a'] }],
])('%s is a usage error', async (_what, options) => {
  await expect(read(options)).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
});
