import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { requireOwnFolder, requireUserFile } from '../../src/platform/own-folder.ts';
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

  it.each([0o777, 0o775])('that others can write to (%o) is refused', (mode) => {
    const folder = newFolder();
    chmodSync(folder, mode);
    const error = errorOf(folder);
    expect(error).toContain('chmod go-w');
    if (mode === 0o777) expectGolden('auth', error);
  });

  it('that all users share is refused, and keeps its mode', () => {
    const folder = newFolder();
    chmodSync(folder, 0o1777);
    expect(errorOf(folder)).toContain('set CLOUDCTL_CONFIG_DIR');
    expect(errorOf(folder)).not.toContain('chmod');
  });

  it('that is a device or a file is refused as such', () => {
    expectGolden('auth', errorOf('/dev/null'));
  });

  it.skipIf(process.geteuid?.() !== 0)('of another user is refused', () => {
    const folder = newFolder();
    chownSync(folder, 65_534, 65_534);
    expectGolden('auth', errorOf(folder));
  });
});

describe.skipIf(process.platform === 'win32')('the parents of a folder of the program', () => {
  /** FOLDER/state/it's above/state */
  function newParents() {
    const above = join(newFolder(), "it's above");
    const state = join(above, 'state');
    mkdirSync(state, { recursive: true, mode: 0o700 });
    return { above, state };
  }
  const refusal = (folder: string): CliError | undefined => {
    try {
      requireOwnFolder(folder);
      return undefined;
    } catch (error) {
      if (error instanceof CliError) return error;
      throw error;
    }
  };

  it.each([0o777, 0o757, 0o722])('that others can write to (%o) are refused, with the command that helps', (mode) => {
    const { above, state } = newParents();
    chmodSync(above, mode);
    const error = refusal(state);
    expect(error).toMatchObject({ code: 'config_invalid', message: expect.stringContaining(above) });
    if (mode === 0o777) expectGolden('auth', errorText(error).replaceAll(dirname(above), 'FOLDER'));
    execFileSync('sh', ['-c', /`(.*)`$/.exec(error?.hint ?? '')?.[1] ?? '']);
    expect(refusal(state)).toBeUndefined();
  });

  it('are checked before a missing folder is created in them', () => {
    const { above } = newParents();
    chmodSync(above, 0o777);
    expect(refusal(join(above, 'missing', 'state'))?.message).toContain(above);
    expect(refusal(join(above, 'state', '..', 'missing'))?.message).toContain(above);
  });

  it('are checked where a link leads', () => {
    const { above, state } = newParents();
    const home = join(newFolder(), 'home');
    symlinkSync(state, home);
    expect(refusal(home)).toBeUndefined();
    expect(refusal(join(home, 'below'))).toBeUndefined();
    chmodSync(above, 0o777);
    expect(refusal(home)?.message).toContain(above);
    expect(refusal(join(home, 'below'))?.message).toContain(above);
  });

  it('may have the sticky bit, be readable for others, and be writable for the group that only this user has', () => {
    const { above, state } = newParents();
    for (const mode of [0o1777, 0o755, 0o750, 0o2755]) {
      chmodSync(above, mode);
      expect(refusal(state)).toBeUndefined();
    }
  });

  const onDebian = process.geteuid?.() === 0 && existsSync('/etc/debian_version');
  it.skipIf(!onDebian)('may be writable for the group that only this user has, and for no other group', () => {
    const { above, state } = newParents();
    chmodSync(above, 0o775);
    expect(refusal(state)).toBeUndefined();
    // The group `users`.
    chownSync(above, 0, 100);
    expect(refusal(state)?.message).toContain(above);
  });

  it.skipIf(process.geteuid?.() !== 0)('of another user are refused, also with the sticky bit', () => {
    const { above, state } = newParents();
    chownSync(above, 65_534, 65_534);
    for (const mode of [0o755, 0o1777]) {
      chmodSync(above, mode);
      expect(refusal(state)?.message).toContain('uid 65534');
    }
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
      requireUserFile(path);
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
