import { afterAll, beforeAll, describe, type TestContext } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { type SecretService, startSecretService } from '../../fixtures/secret-service.ts';
import { createFaultFixture, type FaultFixture, type FaultFixtureOptions, type StoreKind } from './fault-fixture.ts';

/** Makes a fixture that ends with the test it is made for. */
export type Make = (
  test: Pick<TestContext, 'onTestFinished'>,
  options?: Omit<FaultFixtureOptions, 'service' | 'test'>,
) => Promise<FaultFixture>;

export interface StoreSuite {
  readonly store: StoreKind;
  readonly make: Make;
}

export const noKeyring = lacks('gnome-keyring-daemon', 'dbus-daemon', 'dbus-send');

/** The same tests over the real keychain and over the file store, each fixture with folders and a server of its own. */
export function describeStores(what: string, tests: (side: StoreSuite) => void): void {
  describe.skipIf(noKeyring).concurrent(`${what}, with the keychain`, () => {
    let service: SecretService | undefined;
    beforeAll(async () => {
      service = await startSecretService();
    });
    afterAll(() => service?.stop());
    tests({
      store: 'keychain',
      make: (test, options) => createFaultFixture('keychain', { ...options, service, test }),
    });
  });
  describe.concurrent(`${what}, with the file store`, () => {
    tests({ store: 'file', make: (test, options) => createFaultFixture('file', { ...options, test }) });
  });
}
