import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { node, start } from '../../fixtures/cli.ts';
import { closedOrigin, reply, serverFor } from '../../fixtures/fake-server.ts';
import { makeFolders } from '../../fixtures/folders.ts';

/** A free port, and the option with which Node opens its debugger there instead of on 9229. */
async function debuggerPort(): Promise<{ readonly port: number; readonly option: string }> {
  const port = Number(new URL(await closedOrigin()).port);
  return { port, option: `--inspect-port=${port}` };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe.skipIf(process.platform === 'win32')('SIGUSR1', () => {
  it('opens the debugger of a plain Node process', async () => {
    const { port, option } = await debuggerPort();
    const child = spawn(node, [option, '-e', 'setInterval(() => {}, 1000); console.log("ready")']);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    child.kill('SIGUSR1');
    await expect.poll(() => isOpen(port)).toBe(true);
  });

  it('opens no debugger in a process with a token, and does not end it', async () => {
    const { port, option } = await debuggerPort();
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const received: ServerResponse[] = [];
    const { origin } = await serverFor((_, response) => void received.push(response));
    const running = start(['api', '/v2/account'], {
      folders,
      limit: 60_000,
      env: { CLOUDCTL_ACCESS_TOKEN: 'a-token', CLOUDCTL_BASE_URL: origin, NODE_OPTIONS: option },
    });
    await expect.poll(() => received.length, { timeout: 20_000 }).toBe(1);
    running.kill('SIGUSR1');
    await sleep(500);
    expect(await isOpen(port)).toBe(false);
    for (const response of received) reply(response, 200, { account: {} });
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  });
});
