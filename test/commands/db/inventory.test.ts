import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { parseInventoryReport } from '../../fixtures/inventory-schema.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

const away = async (name: string) => `postgres://u@127.0.0.1:${await closedPort()}/${name}?sslmode=disable`;

it('reads the list of sources from standard input', async () => {
  const lines = [await away('a'), await away('b')].join('\n');
  const ran = await runCloudctl(dbTestHost(), ['db', 'inventory', '-', '-o', 'json'], { stdin: lines });
  expect(ran.code).toBe(5);
  expect(parseInventoryReport(ran.out).summary).toMatchObject({ sources: 2, not_checked: 2 });
});

it('every line that cannot be used is named, and nothing is checked', async () => {
  const host = dbTestHost();
  const file = join(host.place.work, 'sources');
  writeFileSync(file, [await away('a'), 'mysql://u@h/d', 'no-such-service'].join('\n'));
  const ran = await runCloudctl(host, ['db', 'inventory', file]);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expectGolden('db-inventory', ran.err.replaceAll(file, 'FILE'));
});

test.each([
  ['no list', []],
  ['two lists', ['a', 'b']],
  ['a list that does not exist', ['/nonexistent/sources']],
  ['an option of one source', ['sources', '--source', 'postgres://u@h/d']],
])('%s is a usage error', async (_what, words) => {
  const ran = await runCloudctl(dbTestHost(), ['db', 'inventory', ...words]);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expectGolden('db-inventory', ran.err);
});

test('options that concern one source only are not accepted', async () => {
  const { out } = await runCloudctl(testHost(), ['db', 'inventory', '--help']);
  for (const name of ['source', 'host', 'password-stdin', 'deep', 'fix-sql', 'undo-sql', 'ignore-dbs', 'sarif-uri'])
    expect(out).not.toMatch(new RegExp(`--${name}\\b(?!-)`));
});

test('options that concern many sources are not options of a preflight', async () => {
  const { out } = await runCloudctl(testHost(), ['db', 'preflight', '--help']);
  for (const name of ['parallel', 'parallel-per-server', 'scope', 'password-command', 'report-dir'])
    expect(out).not.toContain(`--${name}`);
});
