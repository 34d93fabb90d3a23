import type { CommandSpec } from '../../../cli/command.ts';
import type { ProfileReference, ProfileSettings } from '../../../config/settings.ts';
import type { CommandContext } from '../../../context.ts';
import { CliError, exitCodes } from '../../../errors.ts';
import type { HeldFileLock } from '../../../platform/file-lock.ts';
import { removeSessionFiles } from '../../../session/remove-profile-secrets.ts';
import { removeSharedStoreKeys } from '../../../session/share-key-items.ts';
import { readSharedSessionCopy, removeSharedSessionCopy } from '../../../session/shared-copy.ts';
import { formatCommandForProfile } from '../../../session/suggested-commands.ts';
import { compareSharedSessionVersions } from '../../../shared-store/shared-session.ts';
import { requireSharedProfile, withOpenSharedStore } from './use-share.ts';

export const shareLeaveCommand: CommandSpec<CommandContext> = {
  description:
    'Publishes what only this machine knows of the session, then removes the key and the copy of the session from this machine. The session goes on for the other machines. To exclude a machine that you do not control, use `auth share rotate-key`.',
  examples: [{ text: 'Leave the share', command: 'cloudctl auth share leave' }],
  run: async (context) => {
    const { settings, share } = await requireSharedProfile(context);
    const place = context.profilePaths(settings.profileName);
    await publishWhatIsOnlyHere(context, settings);
    const lock = await context.lock(place.lock);
    try {
      await requireNothingUnpublished(context, settings, lock);
      await removeSharedStoreKeys(share.keyPlaces);
      removeSharedSessionCopy(place);
      removeSessionFiles(place);
    } finally {
      lock.release();
    }
    await context.output.note(`This machine has left the share of profile ${settings.profileName}.`);
    return 0;
  },
};

/**
 * Stores what only this machine knows of the session in the shared store. Throws if the store cannot be reached, or if its
 * session is older than the copy on this machine.
 */
async function publishWhatIsOnlyHere(context: CommandContext, settings: ProfileSettings): Promise<void> {
  try {
    // Loading the session also stores a refresh that an interrupted command left in its journal.
    await (await context.session(settings)).record();
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== exitCodes.not_logged_in) throw error;
  }
  await (await context.store(settings)).synchronize?.();
  await withOpenSharedStore(context, async ({ store, found }) => {
    const { row } = await store.run({ op: 'read' });
    const copy = readSharedSessionCopy(context.profilePaths(settings.profileName), found.keys.share);
    if (copy === undefined || (row !== undefined && compareSharedSessionVersions(copy, row) !== 'newer')) return;
    throw unpublishedError(settings.profile);
  });
}

/** Another command of this machine may have refreshed the session before the lock was acquired, and not reached the store. */
async function requireNothingUnpublished(
  context: CommandContext,
  settings: ProfileSettings,
  lock: HeldFileLock,
): Promise<void> {
  const store = await context.store(settings);
  const record = await store.withItems(async (items) => items.shared?.knownRecord(), lock);
  if (record !== undefined && store.journal.inspect(record).pending) throw unpublishedError(settings.profile);
}

function unpublishedError(profile: ProfileReference): CliError {
  return new CliError(
    'busy',
    'could not leave the share: the session in the store is older than the copy on this machine',
    {
      hint: `run ${formatCommandForProfile(profile, 'auth share leave')} again`,
    },
  );
}
