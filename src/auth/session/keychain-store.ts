import { Secret } from '../../base/secret.ts';
import type { ProfileReference } from '../../config/settings.ts';
import type { Keychain } from '../../platform/host.ts';
import { maxCredentialRecordLength } from './credential-record.ts';
import type { CredentialStore, CredentialStoreItemName } from './credential-store.ts';
import type { RefreshJournal } from './refresh-journal.ts';

export interface KeychainStoreOptions {
  readonly profile: ProfileReference;
  readonly keychain: Keychain;
  /** `<profile>#<id>` (profile-paths.ts). */
  readonly account: () => string;
  /** Time limit of one keychain operation in milliseconds: 60 s if a user can unlock the keychain, otherwise 3 s. */
  readonly limit: number;
  readonly onWaiting: () => void;
  readonly platform: NodeJS.Platform;
  readonly journal: RefreshJournal;
}

/** The default store: the keychain of the operating system, accessed in a helper process that can be killed. */
export function createKeychainStore(options: KeychainStoreOptions): CredentialStore {
  const accountOf = (item: CredentialStoreItemName): string =>
    item === 'credential' ? options.account() : `${options.account()}:${item}`;
  return {
    profile: options.profile,
    kind: 'keychain',
    get location(): string {
      return `${keychainNames[options.platform] ?? 'Secret Service'}, service cloudctl, account ${options.account()}`;
    },
    maxLength: maxCredentialRecordLength,
    journal: options.journal,
    withItems: async (work, lock) => {
      const { limit, onWaiting } = options;
      const session = options.keychain.open({ timeoutMs: limit, onWaiting, lockDescriptor: lock?.descriptor });
      try {
        return await work({
          read: async (item) => {
            const result = await session.read(accountOf(item));
            return result.kind === 'found' ? { kind: 'found', value: new Secret(result.value) } : result;
          },
          write: (item, value) => session.write(accountOf(item), value.reveal()),
          remove: (item) => session.remove(accountOf(item)),
        });
      } finally {
        await session.close();
      }
    },
  };
}

const keychainNames: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'Keychain',
  win32: 'Credential Manager',
};
