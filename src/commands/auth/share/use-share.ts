import type { ResolvedProfileSettings } from '../../../config/settings.ts';
import type { SharedProfileStoreAndKeys } from '../../../context/shared-profile.ts';
import type { CommandContext } from '../../../context.ts';
import { usageError } from '../../../errors.ts';
import { catchSharedStoreUnavailable } from '../../../session/catch-shared-store-unavailable.ts';
import { credentialStoreUnavailableError, requireCredentialStoreAvailable } from '../../../session/credential-store.ts';
import { type FoundShareEncryptionKeys, readShareEncryptionKeys } from '../../../session/share-key-items.ts';
import { formatCommandForProfile } from '../../../session/suggested-commands.ts';
import type { SharedSessionStore } from '../../../shared-store/shared-session.ts';

/**
 * The settings of the profile and its shared credential store. Throws a usage error if the profile uses another credential
 * store.
 */
export async function requireSharedProfile(
  context: CommandContext,
  settings = context.settings(),
): Promise<{ readonly settings: ResolvedProfileSettings; readonly share: SharedProfileStoreAndKeys }> {
  if (settings.values.credential_store !== 'shared')
    throw usageError(
      `the credential store of profile "${settings.profileName}" is not shared`,
      `change it: ${formatCommandForProfile(settings.profile, 'config set credential_store shared')}`,
    );
  return { settings, share: await context.share(settings) };
}

export interface OpenedShare {
  readonly settings: ResolvedProfileSettings;
  readonly share: SharedProfileStoreAndKeys;
  readonly found: FoundShareEncryptionKeys;
  readonly store: SharedSessionStore;
}

/**
 * Opens the shared store with the keys of this machine. Errors of the database server become a CliError with the code
 * `unreachable`.
 */
export async function withOpenSharedStore<T>(
  context: CommandContext,
  work: (open: OpenedShare) => Promise<T>,
  settings = context.settings(),
): Promise<T> {
  const { share } = await requireSharedProfile(context, settings);
  const found = await readShareEncryptionKeys(share.keyPlaces);
  const store = await share.open({ share: found.keys.share, profile: settings.profileName });
  try {
    const result = await catchSharedStoreUnavailable(store.location, async () => ({
      kind: 'done' as const,
      value: await work({ settings, share, found, store }),
    }));
    return requireCredentialStoreAvailable(result, settings.profile).value;
  } finally {
    await store.close();
  }
}

/** Runs `work`. When the server of the shared store is not available, throws a CliError with the code `unreachable`. */
export async function rethrowShareErrorsAsUnreachable<T>(
  settings: ResolvedProfileSettings,
  work: () => Promise<T>,
): Promise<T> {
  const result = await catchSharedStoreUnavailable('the server of CLOUDCTL_STORE_URL', async () => ({
    kind: 'done' as const,
    value: await work(),
  }));
  if (result.kind === 'unavailable') throw credentialStoreUnavailableError(result, settings.profile);
  return result.value;
}

/** Warns if the server would store sessions without adding entries to the log. */
export async function warnOfLogFailure({ output }: CommandContext, store: SharedSessionStore): Promise<void> {
  const reason = await store.findLogFailure?.();
  if (reason !== undefined)
    await output.warn(
      `sessions can be stored, but nothing is added to the log of the share: ${store.location}: ${reason}`,
    );
}
