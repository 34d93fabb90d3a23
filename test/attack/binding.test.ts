import { readFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { head, hear, listening } from '../auth/loopback/raw-client.ts';
import { errorOf } from '../e2e/login/machine.ts';
import { freePorts } from '../e2e/login/ports.ts';
import { authorityFor } from './authority.ts';
import { navigation, startVictimMachine } from './victim.ts';

describe('binding and lifetime', () => {
  test('rule 1: only literal loopback addresses are bound', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    expect(boundTo(victim.port)).toEqual(['0100007F']);
    const others = Object.values(networkInterfaces())
      .flatMap((entries) => entries ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    for (const { address } of others) expect(await listening(victim.port, address)).toBe(false);
    await victim.completes();
  });

  test('rule 1: a peer is refused unless it is of this machine, whatever the address it found', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    // 127.0.0.2 is loopback too, but nobody listens there.
    expect(await listening(victim.port, '127.0.0.2')).toBe(false);
    await victim.completes();
  });

  test('rule 2: localhost is bound on both families, and one of them taken is a failure', async () => {
    const authority = await authorityFor();
    const computer = await startVictimMachine(authority, {}, 'localhost');
    const victim = await computer.login();
    expect(await listening(victim.port, '127.0.0.1')).toBe(true);
    expect(await listening(victim.port, '::1')).toBe(true);
    await victim.completes();
    for (const address of ['127.0.0.1', '::1']) {
      const taken = await occupy(victim.port, address);
      const ran = await computer.run(['auth', 'login', '--no-browser', '-o', 'json']);
      expect(errorOf(ran)).toMatchObject({ code: 'port_in_use', exit_code: 1 });
      await new Promise((resolve) => taken.close(resolve));
    }
  });

  test('rule 3: a taken port is exit 1 with port and option, before any state is made or browser opened', async () => {
    const computer = await startVictimMachine(await authorityFor());
    const { port } = new URL(computer.callbackUrl);
    await occupy(Number(port), '127.0.0.1');
    const ran = await computer.run(['auth', 'login', '--no-browser']);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain(port);
    expect(ran.stderr).toContain('--callback-url');
    expect(ran.stderr).not.toMatch(/state=|v1\/oauth\/authorize/);
  });

  test('rule 3: with several registered callback URLs the next free one is taken', async () => {
    const [first, second] = await freePorts(2);
    const urls = [first, second].map((port) => `http://127.0.0.1:${port}/callback`).join(',');
    await occupy(first ?? 0, '127.0.0.1');
    const computer = await startVictimMachine(await authorityFor(), { CLOUDCTL_CALLBACK_URL: urls });
    const victim = await computer.login();
    expect(victim.port).toBe(second);
    await victim.completes();
  });

  test('rule 3: nobody is sent to the browser before the port is bound', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    expect(await listening(victim.port)).toBe(true);
    await victim.completes();
  });

  test('rule 4: a second login fails at once, and the first is not disturbed', async () => {
    const computer = await startVictimMachine(await authorityFor());
    const victim = await computer.login();
    const second = await computer.run(['auth', 'login', '--no-browser', '-o', 'json']);
    expect(second.code).toBe(1);
    expect(['busy', 'port_in_use']).toContain(errorOf(second).code);
    await victim.completes();
  });

  test('rule 5: when the time is over the port is free and the process has ended', async () => {
    const computer = await startVictimMachine(await authorityFor());
    const victim = await computer.login(['--login-timeout', '1s', '-o', 'json']);
    // A socket left open keeps nothing alive.
    const socket = connect({ port: victim.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    const ran = await victim.running.ended;
    expect(errorOf(ran)).toMatchObject({ code: 'login_timeout', exit_code: 4 });
    expect(await listening(victim.port)).toBe(false);
    socket.destroy();
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('rule 6: %s closes listener and connections, exit %i', async (signal, exit) => {
    const authority = await authorityFor();
    const victim = await (await startVictimMachine(authority)).login();
    const socket = connect({ port: victim.port, host: '127.0.0.1' });
    const heard = hear(socket);
    victim.running.kill(signal);
    const ran = await victim.running.ended;
    expect(ran.code).toBe(exit);
    expect((await heard).status).toBe(0);
    expect(await listening(victim.port)).toBe(false);
    expect(authority.tokenRequests()).toEqual([]);
  });

  test('rule 6: an exchange in flight is given up after five seconds, and that is said', async () => {
    const authority = await authorityFor({ token: () => undefined });
    const victim = await (await startVictimMachine(authority)).login();
    void victim.get(victim.genuine, ...navigation);
    while (authority.tokenRequests().length === 0) await sleep(10);
    victim.running.kill('SIGINT');
    const ran = await victim.running.ended;
    expect(ran.code).toBe(130);
    expect(ran.stderr).toMatch(/^detail: .*\babandoned\b/m);
  });

  test('rule 7: after the page was told the port is closed', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    await victim.completes();
    expect(await listening(victim.port)).toBe(false);
  });

  test('rule 8: 200 silent sockets do not keep the genuine redirect out', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const sockets = Array.from({ length: 200 }, () => connect({ port: victim.port, host: '127.0.0.1' }));
    for (const socket of sockets) socket.on('error', () => undefined);
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))),
    );
    await victim.completes();
    for (const socket of sockets) socket.destroy();
  });

  test('rule 8: above 64 open sockets the one silent longest goes, not the newest', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const closed: number[] = [];
    const sockets = [];
    for (let at = 0; at < 66; at++) {
      const socket = connect({ port: victim.port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      socket.once('close', () => closed.push(at));
      await new Promise((resolve) => socket.once('connect', resolve));
      sockets.push(socket);
    }
    while (!closed.includes(0)) await sleep(10);
    expect(closed).not.toContain(65);
    for (const socket of sockets) socket.destroy();
    await victim.completes();
  });

  test('rule 8: who sends headers slowly is cut off within seconds', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const socket = connect({ port: victim.port, host: '127.0.0.1' });
    const heard = hear(socket);
    socket.write(`GET ${victim.genuine} HTTP/1.1\r\nHost: ${victim.host}\r\nX-Slow: `);
    const drip = setInterval(() => socket.writable && socket.write('a'), 100);
    const answer = await heard;
    clearInterval(drip);
    expect([0, 408]).toContain(answer.status);
    await victim.completes();
  });

  test.each([
    ['a header', (host: string) => head('GET', '/callback', `Host: ${host}`, `X: ${'a'.repeat(66_000)}`)],
    ['the target', (host: string) => head('GET', `/callback?code=${'a'.repeat(66_000)}`, `Host: ${host}`)],
  ])('rule 8: more than 64 KiB in %s is refused', async (_, bytes) => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    expect((await victim.raw(bytes(victim.host))).status).toBe(431);
    await victim.completes();
  });

  test('rule 9: a body over 16 KiB is refused and not read', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login(['--flow', 'implicit']);
    const headers = [`Host: ${victim.host}`, `Origin: http://${victim.host}`, 'Content-Type: application/json'];
    const long = 'a'.repeat(17 * 1024);
    const announced = head('POST', '/callback/fragment', ...headers, `Content-Length: ${long.length}`);
    const chunked = head('POST', '/callback/fragment', ...headers, 'Transfer-Encoding: chunked');
    expect((await victim.raw(`${announced}${long}`)).status).toBe(413);
    expect((await victim.raw(`${chunked}4400\r\n${long}\r\n0\r\n\r\n`)).status).toBe(413);
    victim.running.kill('SIGINT');
    expect((await victim.running.ended).code).toBe(130);
  });
});

/** Local addresses of listeners on a port, as the kernel lists them. */
function boundTo(port: number): readonly string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = '', , status]) => status === '0A' && local.endsWith(`:${wanted}`))
      .map(([, local = '']) => local.slice(0, -5)),
  );
}

async function occupy(port: number, address: string): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: address, ipv6Only: true }, resolve);
  });
  onTestFinished(() => void server.close());
  return server;
}
