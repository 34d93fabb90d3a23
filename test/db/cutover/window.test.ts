import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openWindow, reportFileOf } from '../../../src/db/cutover/window.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'window-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const event = (at: number) => ({ at, what: 'a step', evidence: "SELECT 'one'" });

test('a run has the events of earlier runs of the same migration, and of no other', () => {
  const record = join(folder, 'migrations', 'abc.json');
  for (const [migration, at] of [
    ['m-1', 1],
    ['m-2', 2],
    ['m-1', 3],
  ] as const) {
    const window = openWindow(record, migration);
    window.add(event(at));
    window.close();
  }
  const { earlier, close } = openWindow(record, 'm-1');
  expect(earlier).toEqual([event(1), event(3)]);
  close();
});

test('a state folder that cannot be written ends no cut-over', () => {
  writeFileSync(join(folder, 'file'), '');
  const window = openWindow(join(folder, 'file', 'abc.json'), 'm-1');
  expect(window.earlier).toEqual([]);
  window.add(event(1));
  window.close();
});

test('a report replaces its earlier version, and nothing else', () => {
  const wanted = join(folder, 'window.html');
  expect(reportFileOf(wanted, 'mark-a')).toBe(wanted);
  writeFileSync(wanted, '');
  expect(reportFileOf(wanted, 'mark-a')).toBe(wanted);
  writeFileSync(wanted, 'page mark-a');
  expect(reportFileOf(wanted, 'mark-a')).toBe(wanted);
  expect(reportFileOf(wanted, 'mark-b')).toBe(join(folder, 'window-2.html'));
  writeFileSync(join(folder, 'window-2.html'), 'page mark-c');
  expect(reportFileOf(wanted, 'mark-b')).toBe(join(folder, 'window-3.html'));
  expect(readFileSync(wanted, 'utf8')).toBe('page mark-a');
});
