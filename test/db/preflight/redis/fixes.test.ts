import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { removeRenameFix } from '../../../../src/db/preflight/redis/check.ts';
import { formatCommand } from '../../../../src/redis/quote.ts';
import { hostileNames } from '../../../fixtures/hostile-names.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { withRedis } from './real.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-fix-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function fixFor(configFile: string, names: readonly string[] = ['PSYNC']) {
  return removeRenameFix(names, { kind: 'known', value: new Map([['config_file', configFile]]) });
}

test.each(["it's", 'a b', 'a; touch canary', '$(touch canary)', '`touch canary`', '-n', 'a\\'])(
  'the lines for a configuration file in the folder %j run in a shell',
  (name) => {
    const work = folder();
    const file = join(work, name, 'redis.conf');
    mkdirSync(dirname(file));
    writeFileSync(file, 'port 1\n  rename-command  PSYNC ""\n');
    const run = (lines: readonly string[] = []) => execFileSync('sh', ['-e', '-c', lines.join('\n')], { cwd: work });
    const { shell, undoShell } = fixFor(file);
    run(shell);
    expect(readFileSync(file, 'utf8')).toBe('port 1\n');
    run(undoShell);
    expect(readFileSync(file, 'utf8')).toContain('rename-command');
    expect(readdirSync(work)).toEqual([name]);
  },
);

test.each(['relative', '/a\nb', '/a\u202eb', '/a\u001b[2J'])('the path %j of a server is not written', (path) => {
  const { shell = [], undoShell = [] } = fixFor(path);
  expect([...shell, ...undoShell].join(' ')).not.toContain(path);
});

test('names of commands are letters', () => {
  expect(fixFor('/r.conf', ["X/d;s/.*/'; touch canary; '", 'PSYNC']).shell).toHaveLength(2);
});

describe.skipIf(lacks('redis-server', 'redis-cli'))('the real redis-cli', () => {
  test('reads every argument as it is', () =>
    withRedis({}, async (server) => {
      const before = readdirSync('.').length;
      for (const name of [...hostileNames, '', '# x', '3 PING', '<f', '|sh', '!sh', 'a"b\'c']) {
        const key = Buffer.from(name).toString('hex');
        expect(server.script(`${formatCommand('SET', key, name)}\n`)).toEqual(['OK']);
        const kept = execFileSync('redis-cli', ['-p', String(server.port), '--raw', 'GET', key]);
        expect(kept.subarray(0, -1).toString()).toBe(name);
      }
      expect(server.cli('dbsize')).toBe(String(hostileNames.length + 7));
      expect(readdirSync('.')).toHaveLength(before);
      expect(existsSync('canary')).toBe(false);
    }));
});
