import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';

describe('config path', () => {
  it('prints where the file is, there or not', async () => {
    const host = testHost();
    expect(await runCloudctl(host, ['config', 'path'])).toMatchObject({
      code: 0,
      out: `${join(host.folders.config, 'config.json')}\n`,
      err: '',
    });
  });
});

describe('a damaged config.json', () => {
  const damaged = '{\n  "profiles": {\n    "default": { "scope": 7 }\n  }\n}';

  it.each([
    ['config', 'set', 'scope', 'read'],
    ['config', 'unset', 'scope'],
    ['config', 'get', 'scope'],
    ['config', 'list'],
    ['auth', 'switch', 'default'],
    ['auth', 'list'],
    ['auth', 'status'],
    ['auth', 'login'],
    ['auth', 'logout'],
    ['auth', 'setup', '--client-id', 'x', '--no-input'],
    ['droplets', 'list'],
    ['api', 'GET', '/v2/actions'],
  ])('is told with line and column by %s %s %s and left as it is', async (...words) => {
    const host = testHost();
    host.writeConfig(damaged);
    const ran = await runCloudctl(host, words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(`${join(host.folders.config, 'config.json')}:3:27`);
    expect(readFileSync(join(host.folders.config, 'config.json'), 'utf8')).toBe(damaged);
  });

  it.each([[['config', 'path']], [['completion', 'bash']], [['--version']], [['--help']]])(
    'does not stop %j, which does not need it',
    async (words) => {
      const host = testHost();
      host.writeConfig(damaged);
      expect((await runCloudctl(host, words)).code).toBe(0);
    },
  );
});
