import type { CommandSpec } from '../../../cli/command.ts';
import type { CommandContext } from '../../../context.ts';
import { requireCredentialStoreAvailable } from '../../../session/credential-store.ts';
import { removeSessionFiles } from '../../../session/remove-profile-secrets.ts';
import { removeShareKeys } from '../../../session/share-key-items.ts';
import { removeSharedCopy } from '../../../session/shared-copy.ts';
import { requireSharedProfile } from './use-share.ts';

export const shareLeaveCommand: CommandSpec<CommandContext> = {
  description:
    'Publishes what only this machine knows of the session, then removes the key and the copy of the session from this machine. The session goes on for the other machines. To exclude a machine that you do not control, use `auth share rotate-key`.',
  examples: [{ text: 'Leave the share', command: 'cloudctl auth share leave' }],
  run: async (context) => {
    const { settings, share } = requireSharedProfile(context);
    const place = context.profilePaths(settings.profileName);
    const lock = await context.lock(place.lock);
    try {
      // The read publishes a copy that is newer than the store; if it fails, nothing is removed.
      const away = await share.store.synchronize?.();
      if (away !== undefined) requireCredentialStoreAvailable(away, settings.profile);
      await removeShareKeys(share.keyPlaces);
      removeSharedCopy(place);
      removeSessionFiles(place);
    } finally {
      lock.release();
    }
    await context.output.note(`This machine has left the share of profile ${settings.profileName}.`);
    return 0;
  },
};
