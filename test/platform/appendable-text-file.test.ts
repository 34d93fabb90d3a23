import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openAppendableTextFile } from '../../src/platform/files.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-append-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'file');
}

test('lines stay in their order, for this user alone, and half a line is cut off', () => {
  const path = place();
  const first = openAppendableTextFile(path, (lines) => lines);
  first.append('one');
  first.append('zwei é');
  first.close();
  appendFileSync(path, 'half');
  const second = openAppendableTextFile(path, (lines) => lines);
  expect(second.lines).toEqual(['one', 'zwei é']);
  second.append('three');
  second.close();
  expect(readFileSync(path, 'utf8')).toBe('one\nzwei é\nthree\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('lines that are not kept are gone when it is open', () => {
  const path = place();
  const first = openAppendableTextFile(path, (lines) => lines);
  for (const line of ['a', 'b', 'c']) first.append(line);
  first.close();
  openAppendableTextFile(path, (lines) => lines.filter((line) => line !== 'b')).close();
  expect(readFileSync(path, 'utf8')).toBe('a\nc\n');
});
