import { chmodSync, chownSync, lchownSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requireFileOfUser, requireOwnFolder } from '../../src/platform/own-folder.ts';
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

describe.skipIf(process.platform === 'win32')('a file from which a command is run', () => {
  /** FOLDER/state/above/config/config.json */
  function newFile() {
    const folder = newFolder();
    const above = join(folder, 'above');
    const config = join(above, 'config');
    mkdirSync(config, { recursive: true, mode: 0o700 });
    const path = join(config, 'config.json');
    writeFileSync(path, '{}', { mode: 0o644 });
    return { folder, above, config, path };
  }

  function fileErrorOf(path: string): string {
    try {
      requireFileOfUser(path);
      return 'none';
    } catch (error) {
      return errorText(error);
    }
  }

  it('may be readable for others, and reached by links of its user', () => {
    const { folder, above, path } = newFile();
    expect(fileErrorOf(path)).toBe('none');
    symlinkSync('above', join(folder, 'relative'));
    symlinkSync(above, join(folder, 'absolute'));
    symlinkSync(path, join(folder, 'file.json'));
    for (const link of ['relative/config/config.json', 'absolute/config/config.json', 'file.json'])
      expect(fileErrorOf(join(folder, link))).toBe('none');
  });

  it.each(['path', 'config', 'above'] as const)('is refused if others can write to its %s', (what) => {
    const file = newFile();
    for (const bit of [0o020, 0o002]) {
      chmodSync(file[what], (what === 'path' ? 0o644 : 0o755) | bit);
      expect(fileErrorOf(file.path)).toContain('config_invalid');
    }
    if (what === 'above') expectGolden('auth', fileErrorOf(file.path));
  });

  it('may be in a folder with the sticky bit, in which others cannot replace it', () => {
    const { above, config, path } = newFile();
    chmodSync(above, 0o1777);
    expect(fileErrorOf(path)).toBe('none');
    renameSync(config, `${config}-other`);
    expect(fileErrorOf(path)).toContain('config_invalid');
  });

  it.skipIf(process.geteuid?.() !== 0).each(['path', 'config', 'above'] as const)(
    'is refused if its %s belongs to another user',
    (what) => {
      const file = newFile();
      chownSync(file[what], 65_534, 65_534);
      expect(fileErrorOf(file.path)).toContain('uid 65534');
    },
  );

  it.skipIf(process.geteuid?.() !== 0)('is refused if a link to it belongs to another user', () => {
    const { folder, path } = newFile();
    symlinkSync(path, join(folder, 'link'));
    lchownSync(join(folder, 'link'), 65_534, 65_534);
    expect(fileErrorOf(join(folder, 'link'))).toContain('uid 65534');
  });

  it('is refused if links of its path lead through a folder of others, or in a circle', () => {
    const { folder, above, path } = newFile();
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    symlinkSync(path, join(shared, 'inner'));
    symlinkSync(join(shared, 'inner'), join(above, 'outer'));
    expect(fileErrorOf(join(above, 'outer'))).toBe('none');
    chmodSync(shared, 0o777);
    expect(fileErrorOf(join(above, 'outer'))).toContain('config_invalid');
    symlinkSync('circle', join(folder, 'circle'));
    expect(fileErrorOf(join(folder, 'circle'))).toContain('config_invalid');
  });

  it('is checked where `..` leads after a link, as the kernel resolves it', () => {
    const { folder, path } = newFile();
    const [shared, inner] = [join(folder, 'shared'), join(folder, 'shared', 'inner')];
    mkdirSync(inner, { recursive: true });
    writeFileSync(join(shared, 'real.json'), '{}');
    // The text `link/../real.json` looks like a file beside the link, which exists.
    writeFileSync(join(folder, 'real.json'), '{}');
    symlinkSync(inner, join(folder, 'link'));
    symlinkSync('link/../real.json', join(folder, 'config.json'));
    expect(fileErrorOf(join(folder, 'config.json'))).toBe('none');
    chmodSync(shared, 0o777);
    expect(fileErrorOf(join(folder, 'config.json'))).toContain('config_invalid');
    expect(fileErrorOf(path)).toBe('none');
  });
});
