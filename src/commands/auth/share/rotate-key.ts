import { CliError, usageError } from '../../../base/errors.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { CommandContext } from '../../../context.ts';
import { createSharedSessionEncryptor } from '../../../session/sealed-session.ts';
import { formatMissingShareKeyHint, shareEncryptionKeyVariable } from '../../../session/share-key-items.ts';
import { formatCommandForProfile } from '../../../session/suggested-commands.ts';
import { addShareEncryptionKey, encodeShareEncryptionKeys } from '../../../shared-store/share-encryption-keys.ts';
import { type OpenedShare, withLockedShareKeys, withOpenSharedStore } from './use-share.ts';

export const shareRotateKeyCommand: CommandSpec<CommandContext> = {
  description:
    'Adds a new key to the share on this machine. Copy the key file to the other machines (`auth share join`), then run the command with --activate: the session in the store is encrypted again with the new key, at the same generation. Older keys are kept, because files of this machine may need them. To exclude a machine, remove its database role too, and run `auth refresh`.',
  options: [
    { name: 'activate', description: 'encrypt the session in the store with the newest key' },
    { name: 'print-key', description: 'print the keys on standard output' },
  ],
  examples: [
    { text: 'Create a new key', command: 'cloudctl auth share rotate-key' },
    { text: 'Use the new key, after all machines have its file', command: 'cloudctl auth share rotate-key --activate' },
  ],
  run: async (context, args) => {
    await withOpenSharedStore(context, async (open) => {
      if (args.has('activate')) await activateNewestKey(context, open);
      else await createNextKey(context, open);
      if (args.has('print-key')) {
        const { keys } = await open.share.readKeys();
        await context.output.text(encodeShareEncryptionKeys(keys).reveal());
      }
    });
    return 0;
  },
};

const activation = 'auth share rotate-key --activate';

async function createNextKey(context: CommandContext, { settings, share, found }: OpenedShare): Promise<void> {
  if (found.from === 'variable')
    throw usageError(
      `the keys come from ${shareEncryptionKeyVariable}, so no key can be added`,
      'run the command on a machine with a key file, then set the variable to its text',
    );
  const keys = await withLockedShareKeys(context, settings, async ({ existing, store }) => {
    // Reading the keys again throws the error for a machine that has left the share since.
    const { keys: present, from } = existing ?? (await share.readKeys());
    const added = addShareEncryptionKey(present, context.host.random);
    await store(added, from === 'keychain');
    return added;
  });
  await context.output.note([
    `Key ${keys.keys[0].kid} was added to share ${keys.share}.`,
    `Copy the keys to the other machines, then run ${formatCommandForProfile(settings.profile, activation)}.`,
  ]);
}

/** Encrypts the session with the newest key. Tries again if another machine changes the session at the same time. */
async function activateNewestKey(
  { host, output }: CommandContext,
  { settings, share, found, store }: OpenedShare,
): Promise<void> {
  const sealer = createSharedSessionEncryptor(found.keys, settings.profileName, host.random);
  const { kid } = found.keys.keys[0];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const { row } = await store.run({ op: 'read' });
    if (row === undefined) throw new CliError('not_found', 'the shared store has no session of this profile');
    if (row.kid === kid && row.activeKid === kid) {
      await output.note(`The session is encrypted with key ${kid}.`);
      return;
    }
    const opened = sealer.open(row);
    if (opened.kind === 'unknown_key' || opened.kind === 'damaged')
      throw new CliError('config_invalid', `this machine cannot decrypt the session in the store (key ${row.kid})`, {
        hint: formatMissingShareKeyHint(settings.profile, found.from === 'variable'),
      });
    const content = opened.kind === 'record' ? opened.record : 'tombstone';
    const sealed = sealer.seal(row, content, kid);
    await store.run({ op: 'reseal', by: share.machine(), oldKid: row.kid, ...sealed });
  }
  throw new CliError(
    'busy',
    'could not encrypt the session with the new key, because the session changes all the time',
    {
      hint: `run ${formatCommandForProfile(settings.profile, activation)} again`,
    },
  );
}
