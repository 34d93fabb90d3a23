import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openBus } from '../../src/platform/dbus.ts';
import { removeServiceItem, writeServiceItem } from '../../src/platform/keychain-items.ts';
import { readServiceItem } from '../../src/platform/secret-service.ts';
import { canStartSecretService, type SecretService, startSecretService } from '../fixtures/secret-service.ts';
import { type Bundle, bundleProgram } from './bundle.ts';

describe.skipIf(!canStartSecretService())('the Secret Service', () => {
  let service: SecretService;
  beforeAll(async () => {
    service = await startSecretService();
  });
  afterAll(() => service.stop());

  it('outlives thousands of connections, each with one question', async () => {
    const ask = () => readServiceItem(service.env, { service: 'nothing' }, new AbortController().signal);
    const kinds = new Set<string>();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let left = 500; left > 0; left--) kinds.add(JSON.stringify(await ask()));
      }),
    );
    expect([...kinds]).toEqual(['{"kind":"absent"}']);
  });

  it('is told by its own words why it refuses', async () => {
    const bus = openBus(service.env);
    const call = { destination: 'org.freedesktop.secrets', path: '/', interface: 'org.example.None', member: 'None' };
    await expect(bus?.call(call)).rejects.toThrow(/^org\.freedesktop\.DBus\.Error\.UnknownMethod: \w/);
    bus?.close();
  });
});

const attributes = { service: 'cloudctl', username: 'default#wr1tt3n1' };
const item = (value: string) => ({ label: 'keyring:default#wr1tt3n1@cloudctl', attributes, value });
const long = `{"v":1,"name":"Zoë ✓","token":"${'x'.repeat(2000)}"}`;

describe.skipIf(!canStartSecretService())('what is written straight to the Secret Service', () => {
  let service: SecretService;
  let native: Bundle;
  const read = () => readServiceItem(service.env, attributes, new AbortController().signal);
  /** The native client, as on a machine where nothing else is asked. */
  const natively = async (...words: string[]): Promise<unknown> => {
    const { stdout } = await promisify(execFile)(process.execPath, [native.script, ...words], { env: service.env });
    return JSON.parse(stdout);
  };
  beforeAll(async () => {
    service = await startSecretService();
    native = await bundleProgram({ text: client }, 'cjs');
  });
  afterAll(async () => {
    native.remove();
    await service.stop();
  });

  it('is one item, made or replaced, whoever wrote it first', async () => {
    for (const value of ['first', long]) {
      expect(await writeServiceItem(service.env, item(value))).toEqual({ kind: 'done' });
      expect(await read()).toEqual({ kind: 'found', value });
      expect(await natively('read', attributes.username)).toEqual({ kind: 'found', value });
    }
    expect(await natively('write', attributes.username, 'by the native client')).toEqual({ kind: 'done' });
    expect(await read()).toEqual({ kind: 'found', value: 'by the native client' });
    expect(await writeServiceItem(service.env, item('ours again'))).toEqual({ kind: 'done' });
    expect(await natively('read', attributes.username)).toEqual({ kind: 'found', value: 'ours again' });
  });

  it('is there when the service begins again, and what was removed is not', async () => {
    expect(await writeServiceItem(service.env, item('kept'))).toEqual({ kind: 'done' });
    await service.restart();
    expect(await read()).toEqual({ kind: 'found', value: 'kept' });
    for (let times = 0; times < 2; times++)
      expect(await removeServiceItem(service.env, attributes)).toEqual({ kind: 'done' });
    await service.restart();
    expect(await read()).toEqual({ kind: 'absent' });
  });

  it('is refused by a locked keyring, and nobody is prompted', async () => {
    await service.lock();
    onTestFinished(() => service.restart());
    expect(await writeServiceItem(service.env, item('new'))).toMatchObject({
      kind: 'unavailable',
      why: 'locked',
    });
  });

  it('is refused where there is no keyring to write to', async () => {
    const bare = await startSecretService({ unlocked: false });
    onTestFinished(() => bare.stop());
    expect(await writeServiceItem(bare.env, item('new'))).toMatchObject({ kind: 'unavailable', why: 'missing' });
  });
});

const client = `
  import { readKeychainItem, writeKeychainItem } from './src/platform/keychain-items.ts';
  const [, , operation, account, value] = process.argv;
  const machine = { env: process.env, platform: 'another' };
  const done = operation === 'read' ? readKeychainItem(account, machine) : writeKeychainItem(account, value, machine);
  done.then((outcome) => console.log(JSON.stringify(outcome)));
`;
