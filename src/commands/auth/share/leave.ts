import { existsSync } from 'node:fs';
import type { CommandSpec } from '../../../cli/command.ts';
import type { ProfileReference, ResolvedProfileSettings } from '../../../config/settings.ts';
import type { CommandContext } from '../../../context.ts';
import { CliError, exitCodes, usageError } from '../../../errors.ts';
import type { HeldFileLock } from '../../../platform/file-lock.ts';
import { listRefreshJournalFiles } from '../../../session/profile-paths.ts';
import { removeSessionFiles } from '../../../session/remove-profile-secrets.ts';
import { removeSharedStoreKeys, sharedStoreKeyVariable } from '../../../session/share-key-items.ts';
import { readSharedSessionCopy, removeSharedSessionCopy } from '../../../session/shared-copy.ts';
import { formatCommandForProfile } from '../../../session/suggested-commands.ts';
import { compareSharedSessionVersions } from '../../../shared-store/shared-session.ts';
import { requireSharedProfile, withOpenSharedStore } from './use-share.ts';

export const shareLeaveCommand: CommandSpec<CommandContext> = {
  description:
    'Publishes what only this machine knows of the session, then removes the key and the copy of the session from this machine. If it cannot be published, nothing is removed. The session goes on for the other machines. To exclude a machine that you do not control, use `auth share rotate-key`.',
  examples: [{ text: 'Leave the share', command: 'cloudctl auth share leave' }],
  run: async (context) => {
    const { settings, share } = await requireSharedProfile(context);
    const { from } = await share.readKeys();
    if (from === 'variable')
      throw usageError(
        `${sharedStoreKeyVariable} is set, so this machine stays in the share`,
        `run \`unset ${sharedStoreKeyVariable}\``,
        'commands use the key in the variable, whatever key is stored on this machine',
      );
    await leaveShare(context, settings, { publishes: true });
    await context.output.note(`This machine has left the share of profile ${settings.profileName}.`);
    return 0;
  },
};

/**
 * Removes the key, the copy of the session and the journal from this machine. With `publishes`, what only this machine knows of
 * the session is first written to the store; if that is not possible, throws and removes nothing.
 */
export async function leaveShare(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  { publishes }: { readonly publishes: boolean },
): Promise<void> {
  const place = context.profilePaths(settings.profileName);
  const { keyPlaces } = await context.share(settings);
  const hasSession = (): boolean => existsSync(place.sharedCopyFile) || listRefreshJournalFiles(place).length > 0;
  if (publishes && hasSession()) await publishSession(context, settings);
  const lock = await context.lock(place.lock);
  try {
    if (publishes && hasSession()) await requireNothingUnpublished(context, settings, lock);
    await removeSharedStoreKeys(keyPlaces);
    removeSharedSessionCopy(place);
    removeSessionFiles(place);
  } finally {
    lock.release();
  }
}

/** Stores what only this machine knows of the session in the shared store, if the store can be reached. */
async function publishSession(context: CommandContext, settings: ResolvedProfileSettings): Promise<void> {
  if (listRefreshJournalFiles(context.profilePaths(settings.profileName)).length > 0) {
    try {
      // Loading the session stores a refresh that an interrupted command left in its journal.
      await (await context.session({ ...settings, accessToken: undefined })).record();
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode !== exitCodes.not_logged_in) throw error;
    }
  }
  await (await context.store(settings)).synchronize?.();
}

/**
 * Throws if this machine has a newer session than the store, or if the store cannot be reached. Called with the lock: another
 * command of this machine may have changed the session since it was published, and not have reached the store.
 */
async function requireNothingUnpublished(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  lock: HeldFileLock,
): Promise<void> {
  const isCopyNewer = await withOpenSharedStore(
    context,
    async (open) => {
      // The copy may be the tombstone of a logout, of which there is no record.
      const copy = readSharedSessionCopy(context.profilePaths(settings.profileName), open.found.keys.share);
      const { row } = await open.store.run({ op: 'read' });
      return copy !== undefined && (row === undefined || compareSharedSessionVersions(copy, row) === 'newer');
    },
    settings,
  );
  const store = await context.store(settings);
  const record = await store.withItems(async (items) => items.shared?.knownRecord(), lock);
  const isJournalNewer = record !== undefined && store.journal.inspect(record).pending;
  if (isCopyNewer || isJournalNewer) throw unpublishedError(settings.profile);
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
