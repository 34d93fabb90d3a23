import { describe, expect, it } from 'vitest';
import { configPath, DamagedConfigError, readConfig } from '../../src/config/config-file.ts';
import { explainDamagedConfig } from '../../src/config/explain-damaged-config.ts';
import { testHost } from '../fixtures/host.ts';

/** The error a user sees for this config.json, without the folder. */
async function told(text: string): Promise<{ readonly message: string; readonly at: string }> {
  const host = testHost();
  host.writeConfig(text);
  try {
    readConfig(host.folders.config);
  } catch (thrown) {
    if (!(thrown instanceof DamagedConfigError)) throw thrown;
    const error = await explainDamagedConfig(thrown);
    expect(error).toMatchObject({ code: 'config_invalid', exitCode: 2 });
    const path = configPath(host.folders.config);
    expect(error.detail).toMatch(new RegExp(`^${path}:`));
    return { message: error.message, at: error.detail?.slice(path.length + 1) ?? '' };
  }
  throw new Error('it was read');
}

describe('a damaged config.json', () => {
  it.each([
    ['{\n  "current": "work"\n  "profiles": {}\n}', '3:3', /comma expected/],
    ['\uFEFF{\n  "current": "work"\n  "profiles": {}\n}', '3:3', /comma expected/],
    ['\uFEFF{"current": 7}', '1:13', /current is not text/],
    ['{"profiles": {}', '1:16', /close brace expected/],
    ['', '1:1', /not JSON/],
    ['not json', '1:1', /not JSON/],
    ['{\n  // a comment\n  "profiles": {}\n}', '2:3', /comment/],
    ['{"profiles": {},}', '1:17', /not JSON/],
    ['[]', '1:1', /not an object/],
    ['null', '1:1', /not an object/],
    ['{"current": 7}', '1:13', /current is not text/],
    ['{\n"profiles": [\n]}', '2:13', /profiles is not an object/],
    ['{"profiles": {"work": 7}}', '1:23', /profile work: it is not an object/],
    ['{"profiles": {\n  "Work": {}}}', '2:11', /lower-case/],
    [
      '{"profiles": {"work": {\n  "auth_url": "http://cloud.example"}}}',
      '2:15',
      /profile work: auth_url is an http address/,
    ],
    ['{"profiles": {"work": {\n\n   "pkce": "maybe"}}}', '3:12', /pkce is neither true nor false/],
    ['{"profiles": {"work": {"scope": 7}}}', '1:33', /scope is of the wrong type/],
    [
      '{"profiles": {"work": {"callback_urls": ["http://127.0.0.1:1/x", 7]}}}',
      '1:41',
      /callback_urls is of the wrong type/,
    ],
  ])('%j is told with line and column', async (text, at, reason) => {
    const damage = await told(text);
    expect(damage.at).toBe(at);
    expect(damage.message).toMatch(/^config file is damaged: /);
    expect(damage.message).toMatch(reason);
  });

  it('is not quoted: a secret may stand in it', async () => {
    expect(JSON.stringify(await told('{"profiles": {"work": {"auth_url": "https://u:hunter2@x"}}}'))).not.toContain(
      'hunter2',
    );
  });
});
