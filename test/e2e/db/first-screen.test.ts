import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { runPreflight } from './preflight-run.ts';

const schema =
  'CREATE TABLE orders (n int); INSERT INTO orders VALUES (1); UPDATE orders SET n = 2; CREATE TABLE items (id serial PRIMARY KEY)';

let folders: Folders;
let server: Postgres;

/** One database with a table that has no key. */
beforeAll(async () => {
  folders = makeFolders();
  server = await startPostgres({ version: 17, settings: { ...ready, fsync: 'off' } });
  await server.query('CREATE DATABASE shop');
  await server.query(schema, 'shop');
});

afterAll(async () => {
  await server?.stop();
  folders.remove();
});

test('the verdict, what blocks and the first action are on the first screen', async () => {
  const { screen, text } = await report('1');
  expect(screen).toContain('(replica-identity)');
  expect(screen).toContain(': 1 table, 1 statement, no restart');
  expect(screen).toContain('ALTER TABLE "public"."orders" REPLICA IDENTITY FULL;');
  expectGolden('db-preflight-reports', masked(text));
});

test('the same for 100 databases, and no format repeats a finding or a sentence', async () => {
  await server.query('ALTER DATABASE shop RENAME TO shop_1');
  for (let at = 2; at <= 100; at += 1) await server.query(`CREATE DATABASE shop_${at} TEMPLATE shop_1`);
  const { screen, text, markdown, html } = await report('100', 'shop_1');
  expect(screen).toContain('(replica-identity)');
  expect(screen).toContain(': 100 tables in 100 databases, ');
  expectGolden('db-preflight-reports', masked(text));
  expect(text.split('\n').length).toBeLessThan(90);
  expect(markdown.split(/\s+/).length).toBeLessThan(1200);
  for (const one of [text, markdown]) expect(repeatedSentences(one)).toEqual([]);
  expect(html.match(/<section class="finding [a-z]+" id="replica-identity">/g)).toHaveLength(1);
  const finding = html.slice(html.indexOf('id="replica-identity"')).split('</section>')[0];
  expect(finding).toContain('ALTER TABLE &quot;public&quot;.&quot;orders&quot; REPLICA IDENTITY FULL;');
}, 120_000);

async function report(name: string, dbname = 'shop') {
  const file = (ending: string) => join(folders.work, `report-${name}.${ending}`);
  const files = ['md', 'html'].flatMap((ending) => ['--report', file(ending)]);
  const ran = await runPreflight(server, ['--target-version', '18', ...files], { folders, dbname });
  expect(ran.code).toBe(3);
  const [markdown = '', html = ''] = ['md', 'html'].map((ending) => readFileSync(file(ending), 'utf8'));
  return { screen: firstScreen(ran.stdout), text: ran.stdout, markdown, html };
}

/** The first 24 rows of a terminal with 80 columns, which continues long lines on the next row. */
function firstScreen(text: string): string {
  const rows = text.split('\n').flatMap((line) => line.match(/.{1,80}/gu) ?? ['']);
  return rows.slice(0, 24).join('\n');
}

function repeatedSentences(text: string): readonly string[] {
  const sentences = text.split(/\n|(?<=\.) (?=[A-Z])/).map((one) => one.trim().replace(/^(fix|Fix): /, ''));
  const long = sentences.filter((one) => one.endsWith('.') && one.split(' ').length > 4);
  return long.filter((one, at) => long.indexOf(one) !== at);
}

/** Without what differs between runs. */
function masked(text: string): string {
  return text
    .replaceAll(`:${server.port}/`, ':PORT/')
    .replace(/PostgreSQL [\d.]+$/m, 'PostgreSQL VERSION')
    .replace(/ [\d.]+ MB/, ' SIZE')
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, 12)
    .join('\n');
}
