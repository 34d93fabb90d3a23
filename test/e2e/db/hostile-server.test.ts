import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { type Ran, start } from '../../fixtures/cli.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import {
  type HostileBehavior,
  type HostileServer,
  hostileBehaviors,
  hostileTlsBehaviors,
  startHostileServer,
} from '../../fixtures/hostile-postgres.ts';

const servers: HostileServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

/** MB of memory that the program may use at its highest point. */
const maxMemory = 200;

async function runAgainst(
  behavior: HostileBehavior,
  args: readonly string[],
  limit: number,
): Promise<Ran & { readonly peak: number; readonly took: number }> {
  const server = await startHostileServer(behavior);
  servers.push(server);
  const began = Date.now();
  const source = `postgres://u@127.0.0.1:${server.port}/d`;
  const env = { PGPASSWORD: 's3cret', CLOUDCTL_REHEARSE_INTO_PASSWORD: 's3cret' };
  const running = start([...args.map((word) => word.replace('SOURCE', source)), '-o', 'json'], {
    folders: makeFolders(),
    env,
    limit,
  });
  running.child.stdin?.end('');
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, peakMemory(running.pid));
  }, 20);
  try {
    const ran = await running.ended;
    return { ...ran, peak, took: Date.now() - began };
  } finally {
    clearInterval(timer);
  }
}

function peakMemory(pid: number): number {
  try {
    return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

const cases = [
  ...Object.entries(hostileBehaviors).map(([name, behavior]) => ({ name, behavior, more: ['--disable-ssl'] })),
  ...Object.entries(hostileTlsBehaviors).map(([name, behavior]) => ({ name, behavior, more: [] })),
];

describe('a server that', () => {
  test.each(cases)('$name does not harm a preflight', async ({ behavior, more }) => {
    const ran = await runAgainst(
      behavior,
      ['db', 'preflight', '--source', 'SOURCE', '--allow-private', '--deadline', '15s', ...more],
      40_000,
    );
    expect.soft(ran.code).toBe(3);
    expect.soft(ran.peak).toBeLessThan(maxMemory);
    expect.soft(ran.took).toBeLessThan(25_000);
  });
});
