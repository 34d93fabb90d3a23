import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configPath, readConfig, removeProfile, writeCurrent, writeProfile } from '../../src/config/config-file.ts';
import { thrownText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';

function written(folder: string): unknown {
  return JSON.parse(readFileSync(configPath(folder), 'utf8'));
}

describe('config.json', () => {
  it('that is not there is an empty configuration', () => {
    const { folders } = testHost();
    expect(readConfig(folders.config)).toMatchObject({ current: undefined, raw: {} });
    expect(readConfig(folders.config).profiles.size).toBe(0);
  });

  it('gives the profiles decoded', () => {
    const host = testHost();
    host.writeConfig({
      current: 'work',
      profiles: {
        work: { auth_url: 'https://Cloud.example/', pkce: false, callback_urls: ['http://127.0.0.1:1234/cb'] },
      },
    });
    const config = readConfig(host.folders.config);
    expect(config.current).toBe('work');
    expect(config.profiles.get('work')).toEqual({
      auth_url: 'https://cloud.example',
      pkce: false,
      callback_urls: ['http://127.0.0.1:1234/cb'],
    });
  });

  it('may begin with a mark of the byte order, as some editors write it, which is not written back', () => {
    const host = testHost();
    host.writeConfig('\uFEFF{"current": "work", "profiles": {"work": {"scope": "read"}}}');
    const { config: folder } = host.folders;
    expect(readConfig(folder).profiles.get('work')).toEqual({ scope: 'read' });
    writeCurrent(folder, readConfig(folder), 'work');
    expect(written(folder)).toEqual({ current: 'work', profiles: { work: { scope: 'read' } } });
  });

  it('keeps what a newer version wrote, at every level', () => {
    const host = testHost();
    host.writeConfig({ version: 9, profiles: { work: { later: { deep: [1] }, scope: 'read' }, other: { later: 1 } } });
    const { config: folder } = host.folders;
    writeProfile(folder, readConfig(folder), 'work', { flow: 'code' }, 'work');
    writeCurrent(folder, readConfig(folder), 'other');
    expect(written(folder)).toEqual({
      version: 9,
      current: 'other',
      profiles: { work: { later: { deep: [1] }, flow: 'code' }, other: { later: 1 } },
    });
  });

  it('loses a profile only when it is removed', () => {
    const host = testHost();
    host.writeConfig({ later: 1, current: 'work', profiles: { work: {}, other: { later: 2 }, third: {} } });
    const { config: folder } = host.folders;
    removeProfile(folder, readConfig(folder), 'third');
    expect(written(folder)).toEqual({ later: 1, current: 'work', profiles: { work: {}, other: { later: 2 } } });
    removeProfile(folder, readConfig(folder), 'work');
    expect(written(folder)).toEqual({ later: 1, profiles: { other: { later: 2 } } });
  });

  it('is written for this user alone, in a folder for this user alone', () => {
    const { folders } = testHost();
    writeProfile(folders.config, readConfig(folders.config), 'work', { scope: 'read' });
    expect(statSync(configPath(folders.config)).mode & 0o777).toBe(0o600);
    expect(statSync(folders.config).mode & 0o777).toBe(0o700);
    expect(readFileSync(configPath(folders.config), 'utf8')).toMatch(/^\{\n {2}"profiles"[\s\S]*\}\n$/);
  });

  it('that cannot be written is an error with the path and the reason, and is unchanged', () => {
    const host = testHost();
    host.writeConfig({ profiles: { work: {} } });
    const { config: folder } = host.folders;
    const config = readConfig(folder);
    rmSync(configPath(folder));
    mkdirSync(configPath(folder));
    expect(() => writeCurrent(folder, config, 'work')).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(configPath(folder)),
        detail: expect.stringContaining('unchanged'),
        hint: expect.stringContaining('CLOUDCTL_CONFIG_DIR'),
      }),
    );
  });

  it.skipIf(process.platform === 'win32').each([0o666, 0o664, 0o620, 0o602, 0o777])(
    'that others can write to (%o) is refused, also where a link leads to it, until its mode is changed',
    (mode) => {
      const host = testHost();
      host.writeConfig({ current: 'work' });
      const { config: folder } = host.folders;
      const path = configPath(folder);
      const refusal = { code: 'config_invalid', exitCode: 2, hint: expect.stringContaining(`\`chmod go-w ${path}\``) };
      chmodSync(path, mode);
      expect(() => readConfig(folder)).toThrow(expect.objectContaining(refusal));
      if (mode === 0o666)
        expectGolden(
          'config',
          thrownText(() => readConfig(folder)),
        );
      renameSync(path, `${path}.elsewhere`);
      symlinkSync(`${path}.elsewhere`, path);
      expect(() => readConfig(folder)).toThrow(expect.objectContaining(refusal));
      chmodSync(path, mode & ~0o022);
      expect(readConfig(folder).current).toBe('work');
    },
  );

  it.skipIf(process.geteuid?.() !== 0)('of another user is read only where nobody can have put it there', () => {
    const { folders } = testHost();
    const above = join(folders.config, 'above');
    const folder = join(above, 'config');
    writeCurrent(folder, readConfig(folder), 'work');
    chmodSync(above, 0o777);
    expect(readConfig(folder).current).toBe('work');
    chownSync(configPath(folder), 65_534, 65_534);
    expect(() => readConfig(folder)).toThrow(above);
    chmodSync(above, 0o755);
    expect(readConfig(folder).current).toBe('work');
  });
});
