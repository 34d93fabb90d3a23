import { expect, it } from 'vitest';
import { createTerminalStyles } from '../../../../src/cli/color.ts';
import { createTextMeasurer } from '../../../../src/cli/text.ts';
import type { StatusSample } from '../../../../src/db/watch/sample.ts';
import { renderScreen } from '../../../../src/db/watch/view/screen.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { exampleViolation, makeDatabaseSample, makeStatusSample } from './status-samples.ts';

async function drawn(seen: StatusSample, columns = 80, rows = 24): Promise<readonly string[]> {
  const title = 'db.example.com:5432/shop';
  return renderScreen(seen, {
    columns,
    rows,
    title,
    lags: [0, 1, 2],
    paint: await createTerminalStyles(false),
    ruler: await createTextMeasurer(),
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
  const { measure } = await createTextMeasurer();
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
