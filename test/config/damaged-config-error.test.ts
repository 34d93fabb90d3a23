import { describe, expect, it } from 'vitest';
import { configPath, DamagedConfigError, readConfigFile } from '../../src/config/config-file.ts';
import { createDamagedConfigError } from '../../src/config/damaged-config-error.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';

/** The error a user sees for this config.json, without the folder. */
async function reported(text: string): Promise<{ readonly message: string; readonly at: string }> {
  const host = testHost();
  host.writeConfig(text);
  try {
    readConfigFile(host.folders.config);
  } catch (thrown) {
    if (!(thrown instanceof DamagedConfigError)) throw thrown;
    const error = await createDamagedConfigError(thrown);
    expect(error).toMatchObject({ code: 'config_invalid', exitCode: 2 });
    const path = configPath(host.folders.config);
    expect(error.detail).toMatch(new RegExp(`^${path}:`));
    return { message: error.message, at: error.detail?.slice(path.length + 1) ?? '' };
  }
  throw new Error('it was read');
}

describe('a damaged config.json', () => {
  it.each([
    ['{\n  "current": "work"\n  "profiles": {}\n}', '3:3'],
    ['\uFEFF{\n  "current": "work"\n  "profiles": {}\n}', '3:3'],
    ['\uFEFF{"current": 7}', '1:13'],
    ['{"profiles": {}', '1:16'],
    ['', '1:1'],
    ['not json', '1:1'],
    ['{\n  // a comment\n  "profiles": {}\n}', '2:3'],
    ['{"profiles": {},}', '1:17'],
    ['[]', '1:1'],
    ['null', '1:1'],
    ['{"current": 7}', '1:13'],
    ['{\n"profiles": [\n]}', '2:13'],
    ['{"profiles": {"work": 7}}', '1:23'],
    ['{"profiles": {\n  "Work": {}}}', '2:11'],
    ['{"profiles": {"work": {\n  "auth_url": "http://cloud.example"}}}', '2:15'],
    ['{"profiles": {"work": {\n\n   "pkce": "maybe"}}}', '3:12'],
    ['{"profiles": {"work": {"scope": 7}}}', '1:33'],
    ['{"profiles": {"work": {"callback_urls": ["http://127.0.0.1:1/x", 7]}}}', '1:41'],
  ])('%j is reported with line and column', async (text, at) => {
    const damage = await reported(text);
    expect(damage.at).toBe(at);
    expectGolden('config', damage.message);
  });

  it('is not quoted: a secret may stand in it', async () => {
    expect(JSON.stringify(await reported('{"profiles": {"work": {"auth_url": "https://u:hunter2@x"}}}'))).not.toContain(
      'hunter2',
    );
  });
});
