import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configLockPath } from '../../../src/config/config-file.ts';
import { runCliCommandLine } from '../../../src/main.ts';
import { tryAcquire } from '../../../src/platform/locks.ts';
import { startProgram } from '../../fixtures/cli.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { bundleProgram } from '../../platform/bundle.ts';
import { runCloudctl, stableText } from '../run-cloudctl.ts';

function configText(host: ReturnType<typeof testHost>): string {
  return readFileSync(join(host.folders.config, 'config.json'), 'utf8');
}

describe('config set and get', () => {
  it.each([
    ['auth_url', 'https://cloud.example/', 'https://cloud.example\n'],
    ['base_url', 'http://localhost:8080', 'http://localhost:8080\n'],
    ['client_id', 'abc', 'abc\n'],
    [
      'callback_urls',
      'http://127.0.0.1:8765/a,http://127.0.0.1:8766/a',
      'http://127.0.0.1:8765/a\nhttp://127.0.0.1:8766/a\n',
    ],
    ['issuer', 'https://cloud.example', 'https://cloud.example\n'],
    ['scope', 'read write', 'read write\n'],
    ['flow', 'implicit', 'implicit\n'],
    ['token_params', 'body', 'body\n'],
    ['pkce', 'false', 'false\n'],
    ['credential_store', 'file', 'file\n'],
    ['output', 'yaml', 'yaml\n'],
  ])('%s %s comes back', async (key, value, printed) => {
    const host = testHost();
    expect(await runCloudctl(host, ['config', 'set', key, value])).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining(key),
    });
    expect(await runCloudctl(host, ['config', 'get', key])).toMatchObject({ code: 0, out: printed, err: '' });
    expect((await runCloudctl(host, ['config', 'unset', key])).code).toBe(0);
    const gone = await runCloudctl(host, ['config', 'get', key, '-o', 'json']);
    expect(gone).toMatchObject({ code: 1, out: '' });
    expect(gone.error()).toMatchObject({ code: 'not_found' });
  });

  it('stores what was typed for the profile, not what the environment holds', async () => {
    const host = testHost({ env: { CLOUDCTL_CLIENT_ID: 'env', CLOUDCTL_BASE_URL: 'https://env.example' } });
    await runCloudctl(host, ['config', 'set', 'scope', 'read']);
    expect(host.readConfig().profiles.get('default')).toEqual({ scope: 'read' });
  });

  it.each([
    [['set', 'nope', 'x']],
    [['set', 'auth_url', 'http://cloud.example']],
    [['set', 'callback_urls', 'https://x/']],
    [['set', 'pkce', 'yes']],
    [['set', 'scope', '']],
    [['set', 'client_secret', 'x']],
    [['set', 'scope']],
    [['get']],
    [['get', 'baseurl']],
    [['unset', 'x']],
    [['get', 'scope', '--profile', 'nope']],
    [['set', 'scope', 'read', '--profile', 'nope']],
    [['unset', 'scope', '--profile', 'nope']],
    [['list', '--profile', 'nope']],
    [['list', '--profile', 'No/Good']],
  ])('config %j is exit 2 and changes nothing', async (words) => {
    const host = testHost();
    host.writeConfig({ profiles: { default: { scope: 'read write' } } });
    const before = configText(host);
    const ran = await runCloudctl(host, ['config', ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('config', stableText(ran));
    expect(configText(host)).toBe(before);
  });
});

describe('two writers at once', () => {
  it('in one process lose nothing', async () => {
    const host = testHost();
    const writes = [
      ['client_id', 'a'],
      ['scope', 'read'],
      ['flow', 'code'],
      ['pkce', 'true'],
      ['token_params', 'body'],
      ['issuer', 'x'],
    ];
    const ran = await Promise.all(
      writes.map(([key = '', value = '']) => runCloudctl(host, ['config', 'set', key, value])),
    );
    expect(ran.map(({ code }) => code)).toEqual(writes.map(() => 0));
    expect(host.readConfig().profiles.get('default')).toEqual({
      client_id: 'a',
      scope: 'read',
      flow: 'code',
      pkce: true,
      token_params: 'body',
      issuer: 'x',
    });
  });

  it('in processes of their own lose nothing', { timeout: 60_000 }, async () => {
    const host = testHost();
    host.writeConfig({ later: true, profiles: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, {}])) });
    const text = `import { runCliProcess } from './src/main.ts';
      (async () => {
        for (const [key, value] of [['client_id', process.argv[2]], ['scope', 'read'], ['flow', 'code']]) {
          process.exitCode ||= await runCliProcess(['config', 'set', key, value, '--profile', process.argv[2]]);
        }
      })();`;
    const program = await bundleProgram({ text }, 'esm');
    try {
      const names = ['a', 'b', 'c', 'd'];
      const children = names.map((name) =>
        startProgram(process.execPath, [program.script, name], { folders: host.place }),
      );
      const ended = await Promise.all(children.map(({ ended: end }) => end));
      expect(ended.map(({ code, stderr }) => [code, stderr.includes('error:')])).toEqual(names.map(() => [0, false]));
      expect(host.readConfig().raw).toEqual({
        later: true,
        profiles: Object.fromEntries(names.map((name) => [name, { client_id: name, scope: 'read', flow: 'code' }])),
      });
    } finally {
      program.remove();
    }
  });

  it('wait for each other: a change is made on what the other wrote', async () => {
    const host = testHost();
    await runCloudctl(host, ['config', 'set', 'scope', 'read']);
    writeFileSync(join(host.folders.config, 'config.json'), '{"profiles":{"default":{"scope":"read","new":1}}}');
    await runCloudctl(host, ['config', 'set', 'flow', 'code']);
    expect(host.readConfig().raw).toEqual({ profiles: { default: { new: 1, scope: 'read', flow: 'code' } } });
  });
});

describe('two programs that share a config folder', () => {
  it('wait for each other, though each has a state folder of its own', async () => {
    const base = testHost();
    const other = makeFolders();
    onTestFinished(() => other.remove());
    const host = { ...base, folders: { ...base.folders, state: other.state } };
    const held = tryAcquire(configLockPath(base.folders.config));
    let isOver = false;
    const ended = runCliCommandLine(['config', 'set', 'scope', 'read'], host).then((code) => {
      isOver = true;
      return code;
    });
    // Time enough to write, if nothing held it back.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    expect([isOver, base.readConfig().profiles.size]).toEqual([false, 0]);
    base.writeConfig({ profiles: { work: { scope: 'read' } } });
    held?.release();
    for (; !isOver; base.clock.advance(100)) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await ended).toBe(0);
    expect([...base.readConfig().profiles.keys()].sort()).toEqual(['default', 'work']);
  });
});

describe('a setting whose variable is set', () => {
  it.each([
    ['set', 'scope', 'read'],
    ['unset', 'scope'],
  ])('is changed in the profile by %s, with a warning that the variable is used', async (...words) => {
    const host = testHost({ env: { CLOUDCTL_SCOPE: 'read write' } });
    host.writeConfig({ profiles: { default: {} } });
    const ran = await runCloudctl(host, ['config', ...words]);
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/^warning: CLOUDCTL_SCOPE is set: /m);
    expect((await runCloudctl(host, ['config', 'set', 'output', 'json'])).err).not.toContain('warning');
  });
});
