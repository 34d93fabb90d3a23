import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { dbTestHost } from '../../commands/db/test-source.ts';
import { type RunResult, runCloudctl } from '../../commands/run-cloudctl.ts';
import type { TestHost } from '../../fixtures/host.ts';
import { parseInventoryLines } from '../../fixtures/inventory-schema.ts';

/** Runs an inventory of sources with these names, all of which are away. */
async function check(
  names: readonly string[],
  words: readonly string[],
  on: TestHost = dbTestHost(),
): Promise<RunResult> {
  const port = await closedPort();
  const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`);
  const lines = quoted.map((name) => `postgres://u@127.0.0.1:${port}/d?sslmode=disable,${name}`);
  const file = join(on.place.work, 'sources');
  writeFileSync(file, ['url,name', ...lines].join('\r\n'));
  return runCloudctl(on, ['db', 'inventory', file, ...words]);
}

const formulas = ['=HYPERLINK("http://evil.example.com","x")', '@SUM(1)', '+1+cmd|x', '-1+2', '=cmd|calc'];

it('no cell of the CSV begins a formula of a spreadsheet', async () => {
  const ran = await check(formulas, ['-o', 'csv']);
  expect(ran.code).toBe(5);
  const rows = ran.out.trim().split('\n').slice(1);
  expect(rows).toHaveLength(formulas.length);
  for (const row of rows) expect(row).not.toMatch(/(?:^|,)"?[=+@-]/);
});

it('names of sources are text in every report, and files of --report-dir stay in their folder', async () => {
  const on = dbTestHost();
  const names = [
    '../../../outside',
    '/etc/cloudctl',
    '<script>alert(1)</script>',
    '| a | b |',
    '`x` **y**',
    ...formulas,
  ];
  const at = (name: string) => join(on.place.work, name);
  const files = ['--report', at('r.html'), '--report', at('r.md'), '--report-dir', at('each')];
  const ran = await check(names, [...files, '-o', 'ndjson'], on);
  expect(
    parseInventoryLines(ran.out)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(names.toSorted());
  expect(readFileSync(at('r.html'), 'utf8')).not.toContain('<script');
  expect(
    readFileSync(at('r.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `')).length,
  ).toBeGreaterThan(0);
  expect(readdirSync(at('each'))).toHaveLength(names.length);
  for (const folder of [dirname(on.place.work), dirname(dirname(on.place.work))])
    expect(existsSync(join(folder, 'outside'))).toBe(false);
});

it.each(['\u0000', '\u001b[2J', '\u202e', '\u0085', '\u2028'])('a name with %j is a bad line', async (character) => {
  const ran = await check(['good', `a${character}b`], ['-o', 'json']);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.err).toContain('sources:3:');
  expect(ran.err).not.toContain(character);
});
