import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { helperKeychain } from '../../src/platform/helper-keychain.ts';
import type { ProcessEnvironment } from '../../src/platform/host.ts';
import { serviceName } from '../../src/platform/keychain-wire.ts';
import { readQuickly } from '../../src/platform/quick-keychain.ts';
import { readServiceItem } from '../../src/platform/secret-service.ts';
import { canStartSecretService, type SecretService, startSecretService } from '../fixtures/secret-service.ts';
import { type Bundle, bundleProgram } from './bundle.ts';

const account = 'default#qu1ckr3d';
const read = (env: ProcessEnvironment, name = account) => readQuickly(name, { env, platform: 'linux', limit: 1000 });

describe.skipIf(!canStartSecretService())('the quick read of the Secret Service', () => {
  let service: SecretService;
  let helper: Bundle;
  const write = async (value: string, name = account) => {
    const session = helperKeychain({ env: service.env, script: helper.script }).open({ timeoutMs: 3000 });
    expect(await session.write(name, value)).toEqual({ kind: 'done' });
    await session.close();
  };
  beforeAll(async () => {
    service = await startSecretService();
    helper = await bundleProgram({ file: 'src/platform/keychain-child.ts' }, 'cjs');
  });
  afterAll(async () => {
    helper.remove();
    await service.stop();
  });

  it('sees what the native client wrote, and tells absent from found', async () => {
    const untouched = 'default#n0b0dyel';
    expect(await read(service.env, untouched)).toEqual({ kind: 'absent' });
    for (const value of ['short', `{"v":1,"name":"Zoë ✓","token":"${'x'.repeat(2000)}"}`]) {
      await write(value, untouched);
      expect(await read(service.env, untouched)).toEqual({ kind: 'found', value });
    }
  });

  it('asks for the item by the service and the account, both of them', async () => {
    await write('the first');
    const ask = (attributes: Readonly<Record<string, string>>) =>
      readServiceItem(service.env, attributes, new AbortController().signal);
    expect(serviceName).toBe('cloudctl');
    expect(await ask({ service: serviceName, username: account })).toEqual({ kind: 'found', value: 'the first' });
    expect(await ask({ service: 'another', username: account })).toEqual({ kind: 'absent' });
    expect(await ask({ service: serviceName, username: 'another' })).toEqual({ kind: 'absent' });
    const session = helperKeychain({ env: service.env, script: helper.script }).open({ timeoutMs: 3000 });
    await session.write('default#an0th3r1', 'a second one');
    await session.close();
    expect(await ask({ service: serviceName })).toMatchObject({ kind: 'unavailable', why: 'failed' });
  });

  it('finds the bus in the runtime folder when no variable names it', async () => {
    await write('by the runtime folder');
    const { DBUS_SESSION_BUS_ADDRESS, ...env } = service.env;
    expect(await read(env)).toEqual({ kind: 'found', value: 'by the runtime folder' });
  });

  it('of a locked keyring is unavailable, and prompts nobody', async () => {
    await write('locked away');
    await service.lock();
    expect(await read(service.env)).toMatchObject({ kind: 'unavailable', why: 'locked' });
    await service.restart();
    expect(await read(service.env)).toEqual({ kind: 'found', value: 'locked away' });
  });

  it('of a hung service ends at the limit, and so does the process', async () => {
    const program = await bundleProgram({ text: reader }, 'cjs');
    service.pause();
    try {
      const start = Date.now();
      const child = spawn(process.execPath, [program.script, account], {
        env: service.env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [text] = await once(child.stdout, 'data');
      expect(JSON.parse(String(text))).toMatchObject({ kind: 'unavailable', why: 'hung' });
      expect(await once(child, 'close')).toEqual([1, null]);
      expect(Date.now() - start).toBeLessThan(3000);
    } finally {
      service.resume();
      program.remove();
    }
  });

  it('of a service that ended is missing', async () => {
    await service.end();
    expect(await read(service.env)).toMatchObject({ kind: 'unavailable', why: 'missing' });
    await service.restart();
  });
});

const reader = `
  import { readQuickly } from './src/platform/quick-keychain.ts';
  readQuickly(process.argv[2], { env: process.env, platform: 'linux', limit: 500 }).then((outcome) => {
    console.log(JSON.stringify(outcome));
    process.exitCode = 1;
  });
`;

describe.skipIf(process.platform === 'win32')('the quick read', () => {
  it('without a bus is missing', async () => {
    expect(await read({})).toMatchObject({ kind: 'unavailable', why: 'missing' });
    expect(await read({ DBUS_SESSION_BUS_ADDRESS: 'tcp:host=localhost,port=1' })).toMatchObject({ why: 'missing' });
    expect(await read({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' })).toMatchObject({ why: 'missing' });
  });

  it.each([
    ['refuses us', 'REJECTED EXTERNAL\r\n'],
    ['talks nonsense', 'OK 1234\r\nHTTP/1.1 400 Bad Request\r\n\r\n'],
    ['sends an endless message', `OK 1234\r\nl\x02\x00\x01\xff\xff\xff\x7f${'\0'.repeat(64)}`],
    ['closes at once', ''],
  ])('of a bus that %s is unavailable and never absent', async (_, words) => {
    const folder = mkdtempSync(join(tmpdir(), 'bus-'));
    const server = createServer((socket) => void socket.on('error', () => {}).end(words, 'latin1')).listen(
      join(folder, 'bus'),
    );
    await once(server, 'listening');
    expect(await read({ XDG_RUNTIME_DIR: folder })).toMatchObject({ kind: 'unavailable', why: 'failed' });
    server.close();
    rmSync(folder, { recursive: true });
  });

  it('that blocks a thread of the process does not keep it from ending', async () => {
    const words = "import { exitBlocked } from './src/platform/quick-keychain.ts'; exitBlocked(1);";
    const program = await bundleProgram({ text: words }, 'cjs');
    onTestFinished(() => program.remove());
    const child = spawn(process.execPath, [program.script], { stdio: 'inherit' });
    expect(await once(child, 'close')).toEqual('execve' in process ? [1, null] : [null, 'SIGKILL']);
  });
});
