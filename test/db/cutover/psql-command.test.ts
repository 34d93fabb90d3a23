import { expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { targetPsqlCommand } from '../../../src/db/cutover/target.ts';
import type { DbSource } from '../../../src/db/source/options.ts';

const target = (password: string): DbSource => ({
  engine: 'postgresql',
  source: { host: 'h', port: 1, dbname: 'd', username: 'u', ssl: 'disable', password: new Secret(password) },
});

it.each([
  [
    'its own variable',
    { CLOUDCTL_TARGET_PASSWORD: 'b', PGPASSWORD: 'a' },
    'PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" psql',
  ],
  ['.pgpass or a prompt', { PGPASSWORD: 'a' }, 'PGPASSWORD= psql'],
  ['.pgpass, without PGPASSWORD', {}, 'psql'],
])('with %s, psql does not take the password of the source', (_name, env, start) => {
  const command = targetPsqlCommand(target('b'), env);
  expect(command.split(' -X ')[0]).toBe(start);
  expect(command).toContain("'postgres://u@h:1/d?sslmode=disable'");
});
