import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { genuine } from '../auth/loopback/loopback-fixture.ts';
import { get, start } from '../auth/loopback/raw-client.ts';

const run = promisify(execFile);

/** A program that prints the answer to `GET path`, run by another user of this machine. */
async function requestAsOtherUser(port: number, path: string): Promise<string> {
  const script = `
    const socket = require('node:net').connect(${port}, '127.0.0.1');
    socket.on('data', (bytes) => process.stdout.write(bytes));
    socket.write('GET ${path} HTTP/1.1\\r\\nHost: 127.0.0.1:${port}\\r\\nConnection: close\\r\\n\\r\\n');`;
  const user = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];
  const { stdout } = await run('setpriv', [...user, process.execPath, '-e', script], { cwd: '/' });
  return stdout;
}

const canChangeUser = process.platform === 'linux' && process.getuid?.() === 0;
if (!canChangeUser && process.env.CI !== undefined) throw new Error('a second user needs root and setpriv');

describe('the one-time start URL', () => {
  it.skipIf(!canChangeUser)('is not served to another user of the machine, and the login goes on', async () => {
    const started = await start();
    const { pathname } = new URL(started.loopback.startUrl);
    const stolen = await requestAsOtherUser(started.port, pathname);
    expect(stolen).toMatch(/^HTTP\/1.1 403 /);
    expect(stolen).not.toContain('authorize');
    expect(await requestAsOtherUser(started.port, genuine)).toMatch(/^HTTP\/1.1 403 /);
    expect((await get(started, pathname)).status).toBe(303);
    expect((await get(started, genuine)).status).toBe(303);
    await expect(started.loopback.taken).resolves.toMatchObject({ kind: 'code' });
  });

  it('ends the login when it is opened twice', async () => {
    const started = await start();
    const { pathname } = new URL(started.loopback.startUrl);
    expect((await get(started, pathname)).status).toBe(303);
    expect((await get(started, pathname)).status).toBe(410);
    await expect(started.loopback.taken).rejects.toMatchObject({ code: 'state_mismatch', exitCode: 4 });
    expect((await get(started, genuine)).status).not.toBe(303);
  });
});
