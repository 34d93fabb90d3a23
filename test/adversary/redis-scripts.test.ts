import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type RedisServer, startRedis } from '../fixtures/redis.ts';
import { controlCharacters } from './bad-bytes.ts';
import { type Canaries, makeCanaries } from './canaries.ts';

/** The administrator of a Redis server chooses paths and names; scripts for redis-cli and for a shell quote them. */
describe.each(['redis', 'valkey'] as const)('%s', (program) => {
  let folders: Folders;
  let canaries: Canaries;
  let server: RedisServer;

  beforeAll(async () => {
    folders = makeFolders();
    canaries = makeCanaries();
    // `touch` without a slash: a path has no other place for one.
    const hostile = join(canaries.folder, "$(>c.run)`>c.run`;>c.run;'>c.run'\"");
    mkdirSync(hostile, { recursive: true });
    server = await startRedis({ program, config: ['repl-backlog-size 16kb', 'repl-timeout 5', 'maxmemory 100mb'] });
    server.cli('CONFIG', 'SET', 'dir', hostile);
    server.cli('CONFIG', 'SET', 'dbfilename', '$(>c.run).rdb');
    for (const key of ['\n\\! touch c.run', '\x1b]0;owned\x07', '$(>c.run)']) server.cli('SET', key, key);
    server.cli('ACL', 'SETUSER', '$(>c.run);`>c.run`', 'on', 'nopass', '~*', '+@read');
  });

  afterAll(async () => {
    await server?.stop();
    canaries?.remove();
    folders?.remove();
  });

  beforeEach(() => canaries.reset());

  test(`the scripts for ${program} run no command`, async () => {
    const [fix, undo] = [join(folders.work, 'fix.txt'), join(folders.work, 'undo.txt')];
    const source = ['--source', `redis://${server.host}:${server.port}`, '--disable-ssl', '--allow-private'];
    const files = ['--fix-sql', fix, '--undo-sql', undo];
    const ran = await run(['db', 'preflight', ...source, ...files, '--probe', '--target-version', '8'], {
      folders,
      limit: 60_000,
    });
    expect([0, 3], ran.stderr).toContain(ran.code);
    expect(ran.stdout + ran.stderr).not.toMatch(controlCharacters);
    const scripts = [fix, undo].filter(existsSync).map((path) => readFileSync(path, 'utf8'));
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) {
      expect(script).not.toMatch(controlCharacters);
      server.script(script);
      // The words of each line as a shell reads them; `:` ignores them.
      for (const line of script.split('\n')) {
        const words = line.replace(/^#+\s*/, '');
        spawnSync('sh', ['-c', `: ${words}`], { cwd: canaries.folder, timeout: 5000 });
      }
    }
    expect(canaries.wasExecuted()).toBe(false);
  });
});
