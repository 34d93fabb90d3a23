import { expect, it } from 'vitest';
import { createStyles } from '../../../../src/cli/color.ts';
import type { OutputFormat } from '../../../../src/cli/print.ts';
import { createMeasurer } from '../../../../src/cli/text.ts';
import type { StatusSample } from '../../../../src/db/watch/sample.ts';
import { openWatchScreen, renderScreen } from '../../../../src/db/watch/view/screen.ts';
import { argsFrom, commandIo } from '../../../fixtures/command-io.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../../fixtures/host.ts';
import { exampleViolation, makeDatabaseSample, makeStatusSample } from './status-samples.ts';

async function drawn(seen: StatusSample, columns = 80, rows = 24): Promise<readonly string[]> {
  const title = 'db.example.com:5432/shop';
  return renderScreen(seen, {
    columns,
    rows,
    title,
    lags: [0, 1, 2],
    paint: await createStyles(false),
    ruler: await createMeasurer(),
  });
}

it('the screen shows source, phase, progress, time left, lag, deadline and tables', async () => {
  const lines = await drawn(makeStatusSample());
  expectGolden('db-watch', lines.join('\n'));
});

it('violations and their hints are above the databases', async () => {
  const lines = await drawn(makeStatusSample({ violations: [exampleViolation] }));
  const at = lines.findIndex((line) => line.startsWith('! wal-level-changed in shop: '));
  expect(at).toBeGreaterThan(3);
  expectGolden('db-watch', lines.join('\n'));
  expect(lines.findIndex((line) => line.includes('DO NOT RESTART'))).toBeGreaterThan(at);
  expect(lines.findIndex((line) => line.startsWith('shop '))).toBeGreaterThan(at);
});

it.each([
  [80, 24],
  [40, 14],
  [20, 8],
  [200, 60],
  [80, 5],
  [1, 1],
])('at %i by %i no line is wider and the screen is not longer than the terminal', async (columns, rows) => {
  const many = Array.from({ length: 30 }, (_, at) => makeDatabaseSample({ name: `数据库-${at}` }));
  const flood = Array.from({ length: 20 }, (_, at) => ({ ...exampleViolation, database: `db${at}` }));
  const { measure } = await createMeasurer();
  const wide = (lines: readonly string[]) => Math.max(...lines.map(measure));
  for (const seen of [
    makeStatusSample({ databases: many, violations: flood }),
    makeStatusSample({ notes: ['a '.repeat(200)] }),
  ]) {
    const lines = await drawn(seen, columns, rows);
    expect(lines.length).toBeLessThanOrEqual(rows);
    if (columns >= 20) expect(wide(lines)).toBeLessThan(columns);
  }
});

it('databases are counted where there is no room for them', async () => {
  const many = ['streaming', 'streaming', 'copying'].map((phase, at) =>
    makeDatabaseSample({ name: `db${at}`, phase: phase === 'copying' ? 'copying' : 'streaming' }),
  );
  const lines = await drawn(
    makeStatusSample({ databases: many, violations: [exampleViolation, exampleViolation, exampleViolation] }),
    40,
    14,
  );
  expect(lines).toContain('2 streaming, 1 copying');
});

it('an empty database that is not migrated is left out', async () => {
  const empty = makeDatabaseSample({ name: 'postgres', phase: 'waiting', tables: [] });
  expect((await drawn(makeStatusSample({ databases: [makeDatabaseSample(), empty] }))).join('\n')).not.toContain(
    'postgres',
  );
});

it('control characters in names do not reach the terminal', async () => {
  const evil = makeDatabaseSample({ name: 'a\u001b[2Jb' });
  expect((await drawn(makeStatusSample({ databases: [evil] }))).join('\n')).not.toContain('\u001b');
});

const sample = makeStatusSample({ at: '2026-01-01T00:00:00.000Z', percent: 41 });
const next = makeStatusSample({ at: '2026-01-01T00:00:02.000Z', percent: 42 });

/** Shows both samples; returns what was written after the first and at the end. */
async function show(host: TestHost, format: OutputFormat = 'table', showQueries = false, samples = [sample, next]) {
  const screen = await openWatchScreen(commandIo(host, format), 'db.example.com:5432', showQueries);
  const written: string[] = [];
  for (const one of samples) {
    await screen.show(one);
    written.push(host.out());
  }
  await screen.close();
  return { written, all: host.out() };
}

const clearsLines = (text: string) => text.includes('\u001b[');

it('NDJSON has a line for each sample as it comes', async () => {
  const { written, all } = await show(testHost(), 'ndjson');
  expect(written[0]?.trim().split('\n')).toHaveLength(1);
  const lines = all.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).percent)).toEqual([41, 42]);
});

it.each(['json', 'yaml', 'csv'] as const)('%s is one document with the last sample', async (format) => {
  const { written, all } = await show(testHost(), format);
  expect(written).toEqual(['', '']);
  expect(all).toContain(next.at);
  expect(all).not.toContain(sample.at);
});

it('without a sample a document is not written', async () => {
  const { all } = await show(testHost(), 'json', false, []);
  expect(all).toBe('');
});

it.each([{ format: ['At,Percent'] }, { query: ['percent'] }])('%j selects data also in a terminal', async (given) => {
  const host = testHost({ terminal: 80 });
  const screen = await openWatchScreen({ ...commandIo(host), globals: argsFrom(given) }, 'h:1', false);
  await screen.show(sample);
  expect(host.out()).toBe('');
  await screen.close();
  expect(host.out()).toContain('41');
  expect(clearsLines(host.out())).toBe(false);
});

it('without a terminal a line is written for a change only', async () => {
  const broken = makeStatusSample({ ...next, violations: [exampleViolation] });
  const { written } = await show(testHost(), 'table', false, [sample, next, broken, broken]);
  expect(written[0]).not.toBe('');
  expect(written[1]).toBe(written[0]);
  expect(written[2]).toContain(exampleViolation.rule);
  expect(written[3]).toBe(written[2]);
});

it('a terminal has a screen that is drawn again, and keeps the last status', async () => {
  const { written, all } = await show(testHost({ terminal: 80 }));
  expect(written[1]?.length).toBeGreaterThan(written[0]?.length ?? 0);
  expect(clearsLines(all)).toBe(true);
  expect(all).toContain('db.example.com:5432');
  expect(all.lastIndexOf('42')).toBeGreaterThan(all.lastIndexOf('41'));
});

it('a terminal in which queries are printed has lines instead of a screen', async () => {
  const { all } = await show(testHost({ terminal: 80 }), 'table', true);
  expect(all).not.toBe('');
  expect(clearsLines(all)).toBe(false);
});

it('a name from the source cannot control the terminal', async () => {
  const evil = makeStatusSample({ violations: [{ ...exampleViolation, observed: 'a\u001b]0;evil\u0007b' }] });
  const { all } = await show(testHost(), 'table', false, [evil]);
  expect(all).toContain(exampleViolation.rule);
  expect(all).not.toMatch(/[\u001b\u0007]/);
});
