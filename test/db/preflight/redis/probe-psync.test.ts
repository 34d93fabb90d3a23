import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../../../scripts/free-port.mjs';
import { probePsync } from '../../../../src/db/preflight/redis/source.ts';
import { parseRedisEndpoint } from '../../../../src/redis/endpoint.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { eventually } from '../../../fixtures/redis.ts';
import { listen } from '../../../redis/listen.ts';

function probe(port: number, copyLimit: number) {
  const { source } = parseRedisEndpoint({ host: '127.0.0.1', port, disableSsl: true });
  return probePsync(source, { limit: 5000, copyLimit });
}

/** What comes after the reply to PSYNC. */
async function copyAfter(words: string, copyLimit = 5000): Promise<unknown> {
  let result: unknown;
  await listen(
    async (port) => {
      result = await probe(port, copyLimit);
    },
    (heard) => (heard.includes('PSYNC') ? `+FULLRESYNC ${'0'.repeat(40)} 0\r\n${words}` : '+OK\r\n'),
  );
  return result;
}

test.each([
  { words: '\n\n$182\r\nREDIS0010', kind: 'started' },
  { words: '$EOF:0000\r\n', kind: 'started' },
  { words: "\n-ERR BGSAVE failed, replication can't continue\r\n", kind: 'failed' },
])('after $words the copy has $kind', async ({ words, kind }) => {
  expect(await copyAfter(words)).toMatchObject({ kind: 'accepted', copy: { kind } });
});

test('a copy that does not begin is late, also while the source sends empty lines', async () => {
  expect(await copyAfter('\n\n', 200)).toMatchObject({ kind: 'accepted', copy: { kind: 'late' } });
});

// A limit of processes does not concern root.
describe.skipIf(lacks('redis-server', 'redis-cli', 'setpriv', 'prlimit') || process.getuid?.() !== 0)(
  'a real fork',
  () => {
    test.each(['yes', 'no'])('fails, with repl-diskless-sync %s', async (diskless) => {
      const folder = mkdtempSync(join(tmpdir(), 'cloudctl-fork-'));
      chownSync(folder, 65_534, 65_534);
      const port = await freePort();
      const asNobody = ['--reuid=65534', '--clear-groups'];
      const settings = ['--save', '', '--repl-diskless-sync', diskless, '--repl-diskless-sync-delay', '0'];
      const server = spawn(
        'setpriv',
        [...asNobody, 'redis-server', '--port', String(port), '--dir', folder, ...settings],
        { stdio: 'ignore' },
      );
      const ended = once(server, 'exit');
      try {
        const ping = () => {
          try {
            return execFileSync('redis-cli', ['-p', String(port), 'ping'], { encoding: 'utf8', stdio: 'pipe' });
          } catch {
            return '';
          }
        };
        await eventually(() => ping().includes('PONG'), 'the server');
        execFileSync('setpriv', [...asNobody, 'prlimit', '--pid', String(server.pid), '--nproc=1:1']);
        expect(await probe(port, 5000)).toMatchObject({ kind: 'accepted', copy: { kind: 'failed' } });
      } finally {
        server.kill('SIGKILL');
        await ended;
        rmSync(folder, { recursive: true, force: true });
      }
    });
  },
);
