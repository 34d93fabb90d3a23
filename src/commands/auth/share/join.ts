import { text as readAll } from 'node:stream/consumers';
import { CliError, usageError } from '../../../base/errors.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { ProfileReference } from '../../../config/settings.ts';
import type { CommandContext } from '../../../context.ts';
import {
  type FoundShareEncryptionKeys,
  findShareEncryptionKeys,
  shareEncryptionKeyVariable,
} from '../../../session/share-key-items.ts';
import { formatCommandForProfile, formatShareJoinCommand } from '../../../session/suggested-commands.ts';
import {
  decodeShareEncryptionKeys,
  mergeShareEncryptionKeys,
  type ShareEncryptionKeys,
} from '../../../shared-store/share-encryption-keys.ts';
import {
  requireSharedProfile,
  rethrowShareErrorsAsUnreachable,
  warnOfLogFailure,
  withLockedShareKeys,
} from './use-share.ts';

export const shareJoinCommand: CommandSpec<CommandContext> = {
  description:
    'Reads the key of a share from standard input, checks that the store of CLOUDCTL_STORE_URL can be used, and stores the key on this machine. Run it again after `auth share rotate-key`, to add the new key.',
  options: [
    {
      name: 'keychain',
      description: 'store the key in the keychain instead of a file of mode 0600, and remove the file if there is one',
    },
  ],
  examples: [{ text: 'Join the share', command: 'cloudctl auth share join < share.key' }],
  run: async (context, args) => {
    const { settings, share } = await requireSharedProfile(context);
    share.address();
    const given = await readKeys(context, settings.profile);
    const existing = await findShareEncryptionKeys(share.keyPlaces);
    if (existing?.from === 'variable')
      throw usageError(
        `${shareEncryptionKeyVariable} is set, so no stored key is used`,
        `run \`unset ${shareEncryptionKeyVariable}\``,
      );
    const { share: id } = addGivenKeys(given, existing, settings.profile);
    const snapshot = await rethrowShareErrorsAsUnreachable(settings, async () => {
      const store = await share.open({ share: id, profile: settings.profileName });
      try {
        const read = await store.run({ op: 'read' });
        await warnOfLogFailure(context, store);
        return read;
      } finally {
        await store.close();
      }
    });
    // The lock is not held while the machine connects, so the stored keys may have changed.
    const isMoved = await withLockedShareKeys(context, settings, async ({ existing: present, store }) => {
      const isInKeychain = args.has('keychain') || present?.from === 'keychain';
      await store(addGivenKeys(given, present, settings.profile), isInKeychain);
      return isInKeychain && present?.from === 'file';
    });
    await context.output.note([
      `This machine (${share.machine()}) has joined share ${id}.`,
      ...(isMoved ? ['The key was moved from its file to the keychain.'] : []),
      snapshot.row === undefined
        ? 'The store has no session of this profile: log in on one machine.'
        : `The store has the session of this profile (epoch ${snapshot.row.epoch}, generation ${snapshot.row.gen}).`,
    ]);
    return 0;
  },
};

/** The given and the stored keys. Throws a CliError if they are of different shares. */
function addGivenKeys(
  given: ShareEncryptionKeys,
  existing: FoundShareEncryptionKeys | undefined,
  profile: ProfileReference,
): ShareEncryptionKeys {
  if (existing === undefined) return given;
  if (existing.keys.share !== given.share)
    throw new CliError('config_invalid', `this machine belongs to share ${existing.keys.share}`, {
      detail: `the key on standard input is of share ${given.share}`,
      hint: `leave the other share first: ${formatCommandForProfile(profile, 'auth share leave')}`,
    });
  return mergeShareEncryptionKeys(given, existing.keys);
}

async function readKeys({ host }: CommandContext, profile: ProfileReference) {
  if (host.stdin.isTTY === true)
    throw usageError('standard input is a terminal', `redirect the key file: ${formatShareJoinCommand(profile)}`);
  const keys = decodeShareEncryptionKeys(await readAll(host.stdin));
  if (keys === undefined)
    throw usageError(
      'the text on standard input is not the key of a share',
      `redirect the whole key file of ${formatCommandForProfile(profile, 'auth share init')}`,
    );
  return keys;
}
