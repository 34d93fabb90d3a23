import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionBus } from '../../src/platform/dbus.ts';
import { readSecretServiceItem } from '../../src/platform/secret-service.ts';
import { canStartSecretService, type SecretService, startSecretService } from '../fixtures/secret-service.ts';

describe.skipIf(!canStartSecretService())('the Secret Service', () => {
  let service: SecretService;
  beforeAll(async () => {
    service = await startSecretService();
  });
  afterAll(() => service.stop());

  it('outlives thousands of connections, each with one question', async () => {
    const ask = () => readSecretServiceItem(service.env, { service: 'nothing' }, new AbortController().signal);
    const kinds = new Set<string>();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let left = 500; left > 0; left--) kinds.add(JSON.stringify(await ask()));
      }),
    );
    expect([...kinds]).toEqual(['{"kind":"absent"}']);
  });

  it('is told by its own words why it refuses', async () => {
    const bus = openSessionBus(service.env);
    const call = { destination: 'org.freedesktop.secrets', path: '/', interface: 'org.example.None', member: 'None' };
    await expect(bus?.call(call)).rejects.toThrow(/^org\.freedesktop\.DBus\.Error\.UnknownMethod: \w/);
    bus?.close();
  });
});
