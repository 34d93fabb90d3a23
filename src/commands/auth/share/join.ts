import { text as readAll } from 'node:stream/consumers';
import type { CommandSpec } from '../../../cli/command.ts';
import type { ProfileReference } from '../../../config/settings.ts';
import type { CommandContext } from '../../../context.ts';
import { CliError, usageError } from '../../../errors.ts';
import {
  findShareEncryptionKeys,
  removeShareEncryptionKeyFile,
  shareEncryptionKeyVariable,
  writeShareEncryptionKeys,
} from '../../../session/share-key-items.ts';
import { formatCommandForProfile, formatShareJoinCommand } from '../../../session/suggested-commands.ts';
import { decodeShareEncryptionKeys, mergeShareEncryptionKeys } from '../../../shared-store/share-encryption-keys.ts';
import { requireSharedProfile, rethrowShareErrorsAsUnreachable, warnOfLogFailure } from './use-share.ts';

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
    if (existing !== undefined && existing.keys.share !== given.share)
      throw new CliError('config_invalid', `this machine belongs to share ${existing.keys.share}`, {
        detail: `the key on standard input is of share ${given.share}`,
        hint: `leave the other share first: ${formatCommandForProfile(settings.profile, 'auth share leave')}`,
      });
    const keys = existing === undefined ? given : mergeShareEncryptionKeys(given, existing.keys);
    const snapshot = await rethrowShareErrorsAsUnreachable(settings, async () => {
      const store = await share.open({ share: keys.share, profile: settings.profileName });
      try {
        const read = await store.run({ op: 'read' });
        await warnOfLogFailure(context, store);
        return read;
      } finally {
        await store.close();
      }
    });
    const isInKeychain = args.has('keychain') || existing?.from === 'keychain';
    await writeShareEncryptionKeys(isInKeychain ? share.keychain : share.keyPlaces.file, keys);
    const isMoved = isInKeychain && existing?.from === 'file';
    if (isMoved) await removeShareEncryptionKeyFile(share.keyPlaces);
    await context.output.note([
      `This machine (${share.machine()}) has joined share ${keys.share}.`,
      ...(isMoved ? ['The key was moved from its file to the keychain.'] : []),
      snapshot.row === undefined
        ? 'The store has no session of this profile: log in on one machine.'
        : `The store has the session of this profile (epoch ${snapshot.row.epoch}, generation ${snapshot.row.gen}).`,
    ]);
    return 0;
  },
};

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
