import { eraseSecrets } from '../../auth/session/index.ts';
import { usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import { removeProfile } from '../../config/config-file.ts';
import { requireStored } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { warnOfToken } from './environment-token.ts';
import { logoutText } from './logout.ts';

export const authRemove: CommandSpec<CommandContext> = {
  description:
    'Ends the session of the profile as `auth logout` does, then deletes its client secret, its account file, and the profile in config.json. If it was the current profile, none is current afterwards. If the server cannot be reached, the profile is removed nevertheless and the exit code is 6.',
  arguments: [
    {
      name: 'PROFILE',
      description: 'name of a profile (see `cloudctl auth list`)',
      required: true,
      completion: { from: 'profile' },
      listedBy: 'cloudctl auth list',
    },
  ],
  options: [{ name: 'local', description: 'delete the session without revoking the token' }],
  examples: [{ text: 'Remove the profile of an account that is no longer used', command: 'cloudctl auth remove work' }],
  run: warnOfToken(async (context, args) => {
    const [name = ''] = args.positionals;
    const typed = context.globals.value('profile');
    if (typed !== undefined && typed !== name)
      throw usageError('cannot use --profile with another PROFILE', 'remove `--profile`');
    requireStored(context.config(), name, { command: 'auth remove', nearest: nearestWord });
    const settings = context.storedSettings(name);
    if (!(await confirmRemoval(context, name))) {
      await context.output.note(`Profile ${name} was not changed.`);
      return 0;
    }
    const outcome = await eraseSecrets(context, settings, args.has('local'));
    const next = await context.changeConfig((config) => {
      removeProfile(context.host.folders.config, config, name);
      const [other] = [...config.profiles.keys()].filter((one) => one !== name);
      if (config.current !== name) return undefined;
      return other === undefined
        ? 'No profile is left; create one with `cloudctl auth setup`.'
        : `No profile is current now; choose one with \`cloudctl auth switch ${other}\`.`;
    });
    await context.output.note([
      ...(outcome.kind === 'revoked' || outcome.kind === 'local' ? [logoutText(outcome, name)] : []),
      `Profile ${name} was removed.`,
      ...(next === undefined ? [] : [next]),
    ]);
    if (outcome.kind === 'unproven') throw outcome.error;
    return 0;
  }),
};

/** Asks for a confirmation; without a terminal, the profile is removed without confirmation. */
async function confirmRemoval({ prompts }: CommandContext, name: string): Promise<boolean> {
  if (!prompts.interactive) return true;
  return prompts.confirm({ message: `End the session of profile ${name} and remove the profile?` });
}
