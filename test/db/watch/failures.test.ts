import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { listFailures } from '../../../src/api/online-migration.ts';
import { failureHeadline, helpWithFailures } from '../../../src/db/watch/failures.ts';
import { expectGolden } from '../../fixtures/golden.ts';

const engine = fileURLToPath(new URL('../../../src/db/engine/', import.meta.url));
const commands = { preflight: 'PREFLIGHT', stop: 'STOP', migrate: 'MIGRATE' };
const help = (reason: string) => helpWithFailures([{ database: 'shop', reason }], false, commands);

/** What is said about an error for which nothing better is known. */
const unknown = help('?');

it('each error that the engine can end a database with leads to words of its own', () => {
  const errors = readdirSync(engine, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('plane'))
    .flatMap((path) => [
      ...readFileSync(join(engine, path), 'utf8').matchAll(/new MigrationError\(\s*(?:'([^']+)'|`([^`]+)`)/g),
    ])
    .map(([, plain = '', template = plain]) => template.replaceAll(/\$\{[^}]*\}/g, 'x'));
  expect(errors.length).toBeGreaterThan(12);
  expect(errors.filter((text) => help(text) === unknown)).toEqual([]);
});

it('errors of servers lead to what helps with them', () => {
  const errors = [
    'the target is not empty: it contains 3 keys, which a replica would delete',
    'the target database is not empty: it contains public.mine; drop the database on the target and start again',
    'could not reach the source: ECONNREFUSED',
    'could not reach the target: the server closed the connection',
    'password authentication failed for user "mover"',
    'WRONGPASS invalid username-password pair or user is disabled.',
    'permission denied for table t',
    'no pg_hba.conf entry for host "10.0.0.1", user "mover", database "shop", no encryption',
    'the server does not support TLS on this port (it responds without TLS)',
    'the replication slot cloudctl_1_2 is lost',
    'the replication slot cloudctl_1_2 does not exist any more',
    'all replication slots are in use',
    'could not extend file "base/1/2": No space left on device',
    'the replication link of the target is down: see the log of the target',
    'a server is busy: BUSY Redis is busy running a script.',
    'interrupted',
    'something else',
  ];
  expectGolden('db-follow', errors.map((text) => `${text}\n  ${help(text)}`).join('\n'));
  expect(new Set(errors.map(help)).size).toBeGreaterThan(errors.length - 4);
});

it('a migration whose other databases replicate is stopped first', () => {
  const raw = {
    databases: [
      { name: 'shop', phase: 'streaming' },
      { name: 'crm', phase: 'error', error: 'permission denied' },
      { name: 'old', phase: 'failed' },
    ],
  };
  const failures = listFailures({ status: 'running', raw });
  expect(failures.map(({ database }) => database)).toEqual(['crm', 'old']);
  expect(listFailures({ status: 'running', raw }, ['crm', 'old'])).toEqual([]);
  // A status that says error is not made good by leaving a database out.
  expect(listFailures({ status: 'error', raw: { ...raw, reason: 'no' } }, ['crm', 'old'])).toEqual([
    { database: undefined, reason: 'no' },
  ]);
  expectGolden('db-follow', `${failureHeadline(failures)}\n${helpWithFailures(failures, true, commands)}`);
});
