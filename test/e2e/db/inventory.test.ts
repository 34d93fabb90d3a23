import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../fixtures/browser.ts';
import { run } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { terminal } from '../../fixtures/terminal.ts';

let folders: Folders;
let server: Postgres;
let old: Postgres;
const names = Array.from({ length: 12 }, (_, at) => `db${at}`);

beforeAll(async () => {
  folders = makeFolders();
  [server, old] = await Promise.all([
    startPostgres({ version: 17, settings: ready, direct: true }),
    startPostgres({ version: 15, direct: true, password: 'secret' }),
  ]);
  for (const name of names) await server.query(`CREATE DATABASE ${name}`);
  await old.query('CREATE DATABASE shop');
  await server.query('CREATE TABLE visits (at int); INSERT INTO visits VALUES (1); UPDATE visits SET at = 2', 'db3');
}, 60_000);

afterAll(async () => {
  await Promise.all([server?.stop(), old?.stop()]);
  folders.remove();
});

const url = (one: Postgres, name: string) => `postgres://postgres@127.0.0.1:${one.port}/${name}?sslmode=disable`;
const env = () => ({ PGPASSWORD: 'secret' });

function inventoryFile(name: string, lines: readonly string[]): string {
  const file = join(folders.work, name);
  mkdirSync(folders.work, { recursive: true });
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

const words = ['--allow-private', '--target-version', '18', '--scope', 'database'];

/** Twelve databases of one server, two of another one, and a server that is away. */
const allSources = () => [
  ...names.map((name) => url(server, name)),
  url(old, 'shop'),
  url(old, 'postgres'),
  'postgres://u@127.0.0.1:1/away?sslmode=disable',
];

it.skipIf(lacks('tmux', 'less'))(
  'the first screen of a terminal has the totals, the fixes and the next command',
  {
    timeout: 60_000,
  },
  async () => {
    const file = inventoryFile('screen', allSources());
    const shown = await terminal(['db', 'inventory', file, ...words], {
      folders,
      env: { ...env(), PAGER: 'less' },
      columns: 80,
      rows: 24,
    });
    try {
      // The pager shows the beginning, and its prompt in the last row.
      const all = await shown.waitFor(/^The continuous migration is [\s\S]*\n:$/m, 40_000);
      const screen = all.slice(all.indexOf('The continuous migration is '));
      expect(all.split('\n').length).toBeGreaterThan(24);
      expectGolden(
        'db-inventory',
        screen.replaceAll(String(server.port), 'PORT').replaceAll(String(old.port), 'PORT2'),
      );
      expect(screen).toContain('--fix-sql fix.sql');
      await shown.press('q');
      expect(await shown.ended()).toBe(3);
      const after = await shown.screen();
      for (const name of names) expect(after).toContain(`/${name}: `);
      expect(after).toContain('away: not checked, connection refused');
    } finally {
      await shown.close();
    }
  },
);

describe.skipIf(lacks('chromium'))('the HTML report in a browser', () => {
  it('has the result and what to fix first on the first screen, and is not wider than the window', {
    timeout: 60_000,
  }, async () => {
    const file = inventoryFile('all', allSources());
    const report = join(folders.work, 'report.html');
    const ran = await run(['db', 'inventory', file, ...words, '--report', report], {
      folders,
      env: env(),
    });
    expect(ran.code).toBe(3);
    const browser = await launchBrowser(folders);
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
      await page.goto(pathToFileURL(report).href);
      for (const part of ['h1', '.bar', '#fix-first', '.steps tbody tr:nth-child(2)']) {
        const box = await page.locator(part).first().boundingBox();
        expect({ part, bottom: (box?.y ?? 9999) + (box?.height ?? 0) <= 720 }).toEqual({ part, bottom: true });
      }
      const steps = await page.locator('.steps tbody tr td:nth-child(4)').allInnerTexts();
      expect(steps).toEqual(['2', '1']);
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 720 });
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect({ width, overflow }).toEqual({ width, overflow: 0 });
      }
      await page.setViewportSize({ width: 1280, height: 720 });
      const { SCREENSHOT: picture } = process.env;
      if (picture !== undefined) await page.screenshot({ path: picture });
    } finally {
      await browser.close();
    }
  });
});
