import { expect, it } from 'vitest';
import { quotedSourceArgs } from '../../../src/db/source/words.ts';
import { parsePostgresqlEndpoint } from '../../../src/postgresql/endpoint.ts';

const sourceOf = (options: object) =>
  ({ engine: 'postgresql', source: parsePostgresqlEndpoint(options, () => undefined).source }) as const;

it('names the source without its password, and the options that change the connection', () => {
  const source = sourceOf({ source: 'postgres://u:hunter2@h/d', disableSsl: true, allowCleartextPassword: true });
  const args = quotedSourceArgs(source, { ignoreDbs: ['a b', 'c'], caFile: '/tmp/ca file.pem' });
  expect(args).toEqual([
    ...['--source', 'postgres://u@h:5432/d', '--disable-ssl', '--ca-file', "'/tmp/ca file.pem'"],
    ...['--allow-cleartext-password', '--ignore-dbs', "'a b,c'"],
  ]);
});

it('quotes names that a shell would interpret', () => {
  const args = quotedSourceArgs(sourceOf({ source: "postgres://u@h/a'b" }));
  expect(args[1]).not.toMatch(/^[^']*'[^']*$/);
});

it('--ca-file verifies the host name, so the address does not repeat it', () => {
  const source = sourceOf({ source: 'postgres://u@h/d?sslmode=verify-full' });
  expect(quotedSourceArgs(source)[1]).toContain('sslmode=verify-full');
  expect(quotedSourceArgs(source, { caFile: 'ca.pem' })).toEqual([
    '--source',
    'postgres://u@h:5432/d',
    '--ca-file',
    'ca.pem',
  ]);
});
