import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { head, listening } from '../auth/loopback/raw-client.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { startSandbox } from '../fixtures/sandbox.ts';
import { authorityFor } from './authority.ts';
import { exchange, navigation, startVictimMachine } from './victim.ts';

/** Resident megabytes of a process. */
function memory(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

describe('floods', () => {
  test('rule 8: 200 idle sockets and a flood of noise: the genuine redirect gets through, memory stays flat', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const before = memory(victim.running.pid);
    const idle = Array.from({ length: 200 }, () => quiet(connect({ port: victim.port, host: '127.0.0.1' })));
    let sent = 0;
    let flooding = true;
    const noise = Array.from({ length: 16 }, async (_, at) => {
      const lines = [
        head('GET', '/noise', `Host: ${victim.host}`),
        head('GET', '/callback', `Host: ${victim.host}`),
        head('POST', '/callback', 'Host: evil.example', 'Content-Length: 0'),
        'GET / HTTP/1.1\r\n\r\n',
      ];
      while (flooding) {
        await exchange(victim.port, '127.0.0.1', lines[at % lines.length] ?? '');
        sent++;
      }
    });
    await sleep(3000);
    const started = performance.now();
    const redirect = await victim.get(victim.genuine, ...navigation);
    const delay = performance.now() - started;
    const after = memory(victim.running.pid);
    expect(redirect.status).toBe(303);
    const page = await victim.get(redirect.headers.get('location') ?? '', ...navigation);
    expect(page.body).toContain('<main class="done">');
    flooding = false;
    await Promise.all(noise);
    for (const socket of idle) socket.destroy();
    expect((await victim.running.ended).code).toBe(0);
    console.log(
      `flood: ${sent} requests of noise beside 200 idle sockets, the genuine redirect answered in ${delay.toFixed(0)} ms, memory ${before.toFixed(0)} -> ${after.toFixed(0)} MB`,
    );
    expect(after - before).toBeLessThan(60);
  });

  test('slowloris: sockets that dribble headers for ever are ended, and the genuine redirect gets through', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const slow = Array.from({ length: 100 }, () => quiet(connect({ port: victim.port, host: '127.0.0.1' })));
    for (const socket of slow) socket.write(`GET ${victim.genuine} HTTP/1.1\r\nHost: ${victim.host}\r\n`);
    const drip = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write('X: y\r\n');
    }, 200);
    await sleep(2500);
    await victim.completes();
    clearInterval(drip);
    for (const socket of slow) socket.destroy();
  });
});

describe('raw fuzz', () => {
  const rounds = Number(process.env.CLOUDCTL_TEST_FUZZ ?? 300);

  test('the helper: no crash and no hang over ten seconds, and the genuine login still completes', async () => {
    const authority = await authorityFor();
    const victim = await (await startVictimMachine(authority)).login();
    const slowest = await fuzz(victim.port, rounds, [
      // Without a code it is noise; with one and a wrong state it would end the login, as it must.
      victim.genuine.replace('code=', 'kode='),
      `Host: ${victim.host}`,
    ]);
    expect(slowest).toBeLessThan(10_000);
    expect(authority.tokenRequests()).toEqual([]);
    await victim.completes();
  });

  test('the sandbox: no crash and no hang over ten seconds on either port', async () => {
    const folders = makeFolders();
    const sandbox = await startSandbox(folders, ['--no-profile']);
    try {
      const attacks = [sandbox.auth_url, sandbox.base_url].map(async (origin) => {
        const { port, host } = new URL(origin);
        const words = ['/v1/oauth/token?grant_type=refresh_token', '/v2/droplets?page=1', `Host: ${host}`];
        expect(await fuzz(Number(port), rounds, words)).toBeLessThan(10_000);
        expect(await listening(Number(port))).toBe(true);
      });
      await Promise.all(attacks);
      expect((await sandbox.admin('GET', '/_sandbox/requests')).status).toBe(200);
    } finally {
      await sandbox.stop();
      folders.remove();
    }
  });
});

/** Sends garbage and broken requests made of `words`, each on a connection that is kept open; milliseconds of the slowest end. */
async function fuzz(port: number, rounds: number, words: readonly string[]): Promise<number> {
  const durations: number[] = [];
  // Half a request is waited for until its time is over, so each batch takes some seconds.
  const together = Math.max(100, Math.ceil(rounds / 20));
  for (let round = 0; round < rounds; round += together) {
    const batch = Array.from({ length: together }, async (_, at) => {
      const started = performance.now();
      await answered(port, garbage(round + at, words));
      durations.push(performance.now() - started);
    });
    await Promise.all(batch);
  }
  return Math.max(...durations);
}

/** Until the first byte of an answer, or the end of the connection. */
function answered(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = quiet(connect({ port, host: '127.0.0.1' }));
    socket.once('data', () => socket.destroy());
    socket.once('close', () => resolve());
    socket.write(bytes);
  });
}

function garbage(at: number, words: readonly string[]): Buffer {
  const chance = randomBytes(64);
  const pick = (index: number): number => chance[index] ?? 0;
  const methods = ['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'CONNECT', '\u0000', 'G E T'];
  const pieces = [
    `${methods[pick(0) % methods.length]} ${words[pick(1) % words.length]} HTTP/1.${pick(2) % 3}\r\n`,
    `${words.find((word) => word.startsWith('Host')) ?? ''}\r\n`,
    ['Content-Length: 5\r\n', 'Content-Length: 99999999999999999999\r\n', 'Transfer-Encoding: chunked\r\n', ''][
      pick(3) % 4
    ] ?? '',
    ['Content-Type: application/json\r\n', 'Cookie: =;=;;\r\n', 'Authorization: Bearer \u0001\r\n', ''][pick(4) % 4] ??
      '',
    ['\r\n', '\n\n', ''][pick(5) % 3] ?? '',
    ['{"a":', 'ffffffffffffffff\r\n', '0\r\n\r\n', '%', ''][pick(6) % 5] ?? '',
  ];
  const text = Buffer.from(pieces.join(''), 'latin1');
  if (at % 3 === 0) return Buffer.concat([randomBytes(pick(7)), text]);
  // A byte turned over somewhere in the middle.
  if (at % 3 === 1 && text.length > 0) text[pick(8) % text.length] = pick(9);
  return text;
}

function quiet(socket: Socket): Socket {
  return socket.on('error', () => undefined);
}
