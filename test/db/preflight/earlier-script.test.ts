import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderFixScript, renderUndoScript } from '../../../src/db/preflight/fix-script.ts';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { mergeUndo, readEarlierScript } from '../../../src/db/preflight/run-with-files.ts';
import type { DbSource } from '../../../src/db/source/options.ts';
import { testHost } from '../../fixtures/host.ts';
import { findings, report } from './sample.ts';

const only = (id: string, startedAt = report.started_at): PreflightReport => ({
  ...report,
  started_at: startedAt,
  findings: findings.filter((one) => one.id === id),
});
const undoOf = (found: PreflightReport): string => renderUndoScript(found) ?? '';
const source = {
  engine: 'postgresql',
  source: { ...report.source, dbname: 'd', username: 'u', password: undefined, ssl: 'disable' },
} as DbSource;

it('the undo of the first fixes stays, below that of the later ones', () => {
  const [first, second] = [undoOf(only('wal-level')), undoOf(only('slots-vs-dbs'))];
  const merged = mergeUndo(first, second);
  const places = ['max_replication_slots', 'wal_level'].map((name) => merged.indexOf(`ALTER SYSTEM SET ${name}`));
  expect(places[0]).toBeGreaterThan(0);
  expect(places[1]).toBeGreaterThan(places[0]!);
});

it('statements that the earlier script has already are not added again', () => {
  const first = undoOf(only('wal-level', '2026-01-01T00:00:00Z'));
  expect(mergeUndo(first, undoOf(only('wal-level', '2026-01-02T00:00:00Z')))).toBe(first);
  expect(mergeUndo(undefined, first)).toBe(first);
});

it('only scripts of an earlier preflight of the same source are read, others are an error', () => {
  const { work } = testHost().place;
  const write = (name: string, text: string): string => {
    const file = join(work, name);
    writeFileSync(file, text);
    return file;
  };
  const undo = undoOf(only('wal-level'));
  const fix = renderFixScript(only('wal-level')) ?? '';
  expect(readEarlierScript(write('undo.sql', undo), 'undo-sql', source)).toBe(undo);
  expect(readEarlierScript(write('fix.sql', fix), 'fix-sql', source)).toBe(fix);
  expect(readEarlierScript(join(work, 'none.sql'), 'undo-sql', source)).toBeUndefined();
  expect(readEarlierScript(undefined, 'undo-sql', source)).toBeUndefined();
  const refused = [
    write('other.sql', undo.replace(`:${report.source.port}`, ':1')),
    write('mine.sql', 'DELETE FROM t;'),
    write('swapped.sql', fix),
  ];
  for (const file of refused)
    expect(() => readEarlierScript(file, 'undo-sql', source), file).toThrow(expect.objectContaining({ code: 'usage' }));
});
