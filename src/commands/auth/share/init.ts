import { CliError } from '../../../base/errors.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { CommandContext } from '../../../context.ts';
import { findShareEncryptionKeys } from '../../../session/share-key-items.ts';
import { formatCommandForProfile, formatShareJoinCommand } from '../../../session/suggested-commands.ts';
import { initializeSharedStore } from '../../../shared-store/initialize-shared-store.ts';
import { buildShareSchemaSql, defaultSharedStoreRole } from '../../../shared-store/postgresql-schema.ts';
import { encodeShareEncryptionKeys, generateShareEncryptionKeys } from '../../../shared-store/share-encryption-keys.ts';
import {
  requireSharedProfile,
  rethrowShareErrorsAsUnreachable,
  warnOfLogFailure,
  withLockedShareKeys,
} from './use-share.ts';

export const shareInitCommand: CommandSpec<CommandContext> = {
  description:
    'Creates or upgrades the schema in the PostgreSQL server of CLOUDCTL_STORE_URL, or checks the settings of the Redis server, and creates the key of the share on this machine. If the role may not create the schema, the SQL for a DBA is printed on standard output. The key never reaches the server: copy it to the other machines, where `auth share join` reads it.',
  options: [
    {
      name: 'role',
      valueName: 'ROLE',
      description: `PostgreSQL role that may execute the functions, created if missing (default: ${defaultSharedStoreRole})`,
    },
    { name: 'print-sql', description: 'print the SQL of the schema, without connecting' },
    { name: 'keychain', description: 'store the key in the keychain instead of a file of mode 0600' },
    { name: 'print-key', description: 'print the key on standard output as well' },
  ],
  examples: [
    { text: 'Create the share', command: 'cloudctl auth share init' },
    { text: 'Print the SQL for a DBA', command: 'cloudctl auth share init --print-sql > share.sql' },
  ],
  run: async (context, args) => {
    const role = args.value('role') ?? defaultSharedStoreRole;
    if (args.has('print-sql')) {
      await context.output.text(`BEGIN;\n\n${buildShareSchemaSql(role)}\n\nCOMMIT;`);
      return 0;
    }
    const { settings, share } = await requireSharedProfile(context);
    const address = share.address();
    const known = await findShareEncryptionKeys(share.keyPlaces);
    const prepared = await rethrowShareErrorsAsUnreachable(settings, () => initializeSharedStore(address, role));
    if (prepared.kind === 'forbidden') {
      await context.output.text(prepared.sql.trimEnd());
      throw new CliError('api_error', 'could not create the schema of the shared credential store', {
        detail: `${prepared.reason}; the SQL on standard output creates the schema`,
        hint: `give the SQL to a DBA, then run ${formatCommandForProfile(settings.profile, 'auth share init')} again`,
      });
    }
    if (prepared.kind === 'unsuitable')
      throw new CliError('config_invalid', 'the Redis server is not suitable for a shared credential store', {
        detail: prepared.reason,
        hint: 'set `appendonly yes` and `maxmemory-policy noeviction` on the server',
      });
    const { existing, keys } =
      known === undefined
        ? await withLockedShareKeys(context, settings, async ({ existing: present, store }) => {
            // Another command may have created or joined a share since.
            if (present !== undefined) return { existing: present, keys: present.keys };
            const created = generateShareEncryptionKeys(context.host.random);
            await store(created, args.has('keychain'));
            return { existing: undefined, keys: created };
          })
        : { existing: known, keys: known.keys };
    await rethrowShareErrorsAsUnreachable(settings, async () => {
      const store = await share.open({ share: keys.share, profile: settings.profileName });
      await warnOfLogFailure(context, store).finally(() => store.close());
    });
    if (args.has('print-key')) await context.output.text(encodeShareEncryptionKeys(keys).reveal());
    await context.output.note([
      'The server is ready.',
      existing === undefined
        ? `The key of share ${keys.share} was created (${args.has('keychain') ? 'keychain' : share.keyFile}).`
        : `This machine has the key of share ${keys.share} (${existing.from}).`,
      `Copy the key to the other machines, and run ${formatShareJoinCommand(settings.profile)} there.`,
    ]);
    return 0;
  },
};
