import { existsSync } from 'node:fs';
import { CliError, exitCodes, usageError } from '../../../base/errors.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { ProfileReference, ResolvedProfileSettings } from '../../../config/settings.ts';
import type { CommandContext } from '../../../context.ts';
import { credentialStoreUnavailableError } from '../../../session/credential-store.ts';
import { listRefreshJournalFiles, type RefreshJournalFile } from '../../../session/profile-paths.ts';
import type { SharedStoreUnavailable } from '../../../session/refresh-claim.ts';
import type { RefreshJournal } from '../../../session/refresh-journal.ts';
import { removeJournalAndTemporaryFiles } from '../../../session/remove-profile-secrets.ts';
import {
  createSharedSessionEncryptor,
  isReadableSharedSession,
  type SharedSessionEncryptor,
} from '../../../session/sealed-session.ts';
import { removeShareEncryptionKeys, shareEncryptionKeyVariable } from '../../../session/share-key-items.ts';
import {
  removeLocalCopyOfSharedSession,
  requireLocalCopyOfSharedSession,
  type SharedSessionCopy,
} from '../../../session/shared-copy.ts';
import { findSharedRecordFailure } from '../../../session/shared-record-result.ts';
import { formatCommandForProfile } from '../../../session/suggested-commands.ts';
import { compareSharedSessionVersions, type SharedSessionEntry } from '../../../shared-store/shared-session.ts';
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
        `${shareEncryptionKeyVariable} is set, so this machine stays in the share`,
        `run \`unset ${shareEncryptionKeyVariable}\``,
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
  const hasSession = (): boolean => existsSync(place.sharedCopyFile) || listRefreshJournalFiles(place).length > 0;
  if (publishes && hasSession()) await publishSession(context, settings);
  const lock = await context.lock(place.lock);
  try {
    if (publishes && hasSession()) await requireNothingUnpublished(context, settings);
    // Another command may have moved the key to the keychain since.
    await removeShareEncryptionKeys((await context.share(settings)).keyPlaces, lock);
    removeLocalCopyOfSharedSession(place);
    removeJournalAndTemporaryFiles(place);
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
 * Throws if this machine has a newer session than the store, or if that is not known. Called with the lock: another command of
 * this machine may have changed the session since it was published, and not have reached the store.
 */
async function requireNothingUnpublished(context: CommandContext, settings: ResolvedProfileSettings): Promise<void> {
  const { profile, profileName } = settings;
  const { journal } = await context.store(settings);
  const failure = await withOpenSharedStore(
    context,
    async ({ found: { keys }, store }) => {
      const copy = readCopyOrThrow(context, settings, keys.share);
      const { row } = await store.run({ op: 'read' });
      const sealer = createSharedSessionEncryptor(keys, profileName, context.host.random);
      const journalFiles = listRefreshJournalFiles(context.profilePaths(profileName));
      return findUnpublishedSession(copy, row, { profile, open: sealer.open, journal, journalFiles });
    },
    settings,
  );
  if (failure === 'unpublished') throw unpublishedError(profile);
  if (failure !== undefined) throw credentialStoreUnavailableError(failure, profile);
}

function readCopyOrThrow(
  context: CommandContext,
  { profile, profileName }: ResolvedProfileSettings,
  share: string,
): SharedSessionCopy | undefined {
  try {
    return requireLocalCopyOfSharedSession(context.profilePaths(profileName), share);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw credentialStoreUnavailableError({ kind: 'unavailable', why: 'file', reason }, profile);
  }
}

interface UnpublishedSessionDeps {
  readonly profile: ProfileReference;
  readonly open: SharedSessionEncryptor['open'];
  readonly journal: RefreshJournal;
  readonly journalFiles: readonly RefreshJournalFile[];
}

/** What may be lost if the copy and the journal are removed; undefined if the store has the newest session. */
function findUnpublishedSession(
  copy: SharedSessionCopy | undefined,
  row: SharedSessionEntry | undefined,
  { profile, open, journal, journalFiles }: UnpublishedSessionDeps,
): SharedStoreUnavailable | 'unpublished' | undefined {
  // No machine has stored a session yet, or the store has lost it: then the journal may have the newest grant.
  if (row === undefined) return copy !== undefined || journalFiles.length > 0 ? 'unpublished' : undefined;
  const opened = open(row);
  // The version of a row is proven only by its record, and what cannot be read may be newer.
  if (!isReadableSharedSession(opened)) return findSharedRecordFailure(opened, row.kid, profile);
  if (copy !== undefined && compareSharedSessionVersions(copy, row) === 'newer') {
    const ofCopy = open(copy);
    return ofCopy.kind === 'unknown_key' ? findSharedRecordFailure(ofCopy, copy.kid, profile) : 'unpublished';
  }
  // A session that this machine does not know to be older than the row cannot be compared with it.
  const replacedSid = copy !== undefined && compareSharedSessionVersions(copy, row) === 'older' ? copy.sid : row.sid;
  if (journalFiles.some(({ sid }) => sid !== row.sid && sid !== replacedSid)) return 'unpublished';
  return opened.kind === 'record' && journal.inspect(opened.record).pending ? 'unpublished' : undefined;
}

function unpublishedError(profile: ProfileReference): CliError {
  return new CliError('busy', 'could not leave the share: this machine may have a newer session than the store', {
    hint: `run ${formatCommandForProfile(profile, 'auth share leave')} again; to leave without publishing it, run \`cloudctl auth remove ${profile.name} --local\``,
  });
}
