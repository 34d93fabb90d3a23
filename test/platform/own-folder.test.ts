import { chmodSync, chownSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requireOwnFolder } from '../../src/platform/own-folder.ts';
import { errorText } from '../fixtures/error-text.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { expectGolden } from '../fixtures/golden.ts';

function newFolder(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  mkdirSync(folders.state, { recursive: true, mode: 0o700 });
  return folders.state;
}

function errorOf(folder: string): string {
  try {
    requireOwnFolder(folder);
    return 'none';
  } catch (error) {
    return errorText(error).replaceAll(folder, 'FOLDER');
  }
}

describe.skipIf(process.platform === 'win32')('a folder of the program', () => {
  it('may be missing, readable for others, or a link of its user', () => {
    const folder = newFolder();
    expect(errorOf(join(folder, 'missing'))).toBe('none');
    chmodSync(folder, 0o755);
    expect(errorOf(folder)).toBe('none');
    symlinkSync(folder, `${folder}-alias`);
    expect(errorOf(`${folder}-alias`)).toBe('none');
  });

  it.each([0o777, 0o775, 0o1777])('that others can write to (%o) is refused', (mode) => {
    const folder = newFolder();
    chmodSync(folder, mode);
    const error = errorOf(folder);
    expect(error).toContain('chmod go-w');
    if (mode === 0o777) expectGolden('auth', error);
  });

  it.skipIf(process.geteuid?.() !== 0)('of another user is refused', () => {
    const folder = newFolder();
    chownSync(folder, 65_534, 65_534);
    expectGolden('auth', errorOf(folder));
  });
});
