import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { renameOver } from '../../src/platform/rename-over-existing-file.ts';

/** A system on which the rename fails `failures` times with an error code. */
function failingSystem(platform: NodeJS.Platform, code: string, failures: number) {
  const pauses: number[] = [];
  let renames = 0;
  return {
    pauses,
    renames: () => renames,
    platform,
    pause: (milliseconds: number) => void pauses.push(milliseconds),
    rename: () => {
      renames += 1;
      if (renames <= failures) throw Object.assign(new Error(code), { code });
    },
  };
}

it('replaces an existing file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'replace-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [from, to] = [join(folder, 'new'), join(folder, 'old')];
  writeFileSync(from, 'new');
  writeFileSync(to, 'old');
  renameOver(from, to);
  expect(readFileSync(to, 'utf8')).toBe('new');
});

describe('a file that another program has open', () => {
  it.each(['EPERM', 'EACCES', 'EBUSY'])('on Windows is replaced when it is closed (%s)', (code) => {
    const system = failingSystem('win32', code, 3);
    renameOver('from', 'to', system);
    expect(system.renames()).toBe(4);
    expect(system.pauses).toHaveLength(3);
  });

  it('on Windows is given up after two seconds', () => {
    const system = failingSystem('win32', 'EPERM', 1000);
    expect(() => renameOver('from', 'to', system)).toThrow('EPERM');
    expect(system.pauses.reduce((sum, pause) => sum + pause)).toBe(2000);
  });

  it.each([
    ['linux', 'EPERM'],
    ['darwin', 'EACCES'],
    ['win32', 'ENOENT'],
    ['win32', 'ENOSPC'],
  ] as const)('is an error at once on %s with %s', (platform, code) => {
    const system = failingSystem(platform, code, 1);
    expect(() => renameOver('from', 'to', system)).toThrow(code);
    expect(system.renames()).toBe(1);
  });
});
