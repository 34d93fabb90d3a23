import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  createRecordFile,
  type RehearsalRecord,
  readRehearsal,
  rehearsalPath,
} from '../../../../src/db/cutover/rehearse/record.ts';

const first: RehearsalRecord = {
  id: 'r1',
  engine: 'postgresql',
  source: 'a:1',
  target: 'b:2',
  command: 'cloudctl db rehearse',
  system: '42',
  databases: [{ name: 'shop' }],
  roles: [{ name: 'app', oid: '7' }],
  filled: [{ name: 'postgres', extensions: ['plpgsql'], schemas: ['public'], publications: [], eventTriggers: [] }],
  objects: [{ name: 'cloudctl_x_1', database: 'shop' }],
};

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-rehearsal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return rehearsalPath(folder, 'a:1', 'b:2');
}

test('what was made is on the disk before the next thing is made, and for its owner alone', () => {
  const path = place();
  const file = createRecordFile(path, first);
  expect(readRehearsal(path)).toEqual(first);
  file.change({ databases: [{ name: 'shop', oid: '9' }] });
  expect(readRehearsal(path)).toEqual({ ...first, databases: [{ name: 'shop', oid: '9' }] });
  expect(statSync(path).mode & 0o077).toBe(0);
  file.remove();
  expect(existsSync(path)).toBe(false);
  expect(readRehearsal(path)).toBeUndefined();
});

test('oids of filled databases and a kept rehearsal are recorded', () => {
  const path = place();
  const record = { ...first, filled: first.filled.map((one) => ({ ...one, oid: '5' })), kept: true };
  createRecordFile(path, record);
  expect(readRehearsal(path)).toEqual(record);
});

test('a record that cannot be read is told as a damaged one', () => {
  const path = place();
  mkdirSync(path, { recursive: true });
  expect(readRehearsal(path)).toBe('damaged');
});

test('a damaged record is told, and left as it is', () => {
  const path = place();
  createRecordFile(path, first);
  for (const text of ['{', '[]', '{"version":1,"id":"r1"}']) {
    writeFileSync(path, text);
    expect(readRehearsal(path)).toBe('damaged');
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});

test('every source with every target has a record of its own', () => {
  const paths = [rehearsalPath('s', 'a:1', 'b:2'), rehearsalPath('s', 'b:2', 'a:1'), rehearsalPath('s', 'a:1', 'b:3')];
  expect(new Set(paths).size).toBe(3);
});
