import {
  existingKeychainAccount,
  isKeychainMissing,
  type LogoutOutcome,
  removeClientSecret,
  removeProfileFiles,
} from '../../auth/session/index.ts';
import { CliError, usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { removeProfile } from '../../config/config-file.ts';
import { type ResolvedProfileSettings, requireProfileExists } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { warnOfAccessTokenVariable } from './environment-token.ts';
import { logoutProfile, logoutText } from './logout.ts';

export const authRemoveCommand: CommandSpec<CommandContext> = {
  description:
    'Ends the session of the profile as `auth logout` does, then deletes its client secret, its account file, and the profile in config.json. If it was the current profile, none is current afterwards. If the server cannot be reached, the profile is removed nevertheless and the exit code is 6.',
  arguments: [
    {
      name: 'PROFILE',
      description: 'name of a profile (see `cloudctl auth list`)',
      required: true,
      completion: { from: 'profile' },
    },
  ],
  options: [{ name: 'local', description: 'delete the session without revoking the token' }],
  examples: [{ text: 'Remove the profile of an account that is no longer used', command: 'cloudctl auth remove work' }],
  run: warnOfAccessTokenVariable(async (context, args) => {
    const [name = ''] = args.positionals;
    const typed = context.globals.value('profile');
    if (typed !== undefined && typed !== name)
      throw usageError('cannot use --profile with another PROFILE', 'remove `--profile`');
    requireProfileExists(context.config(), name);
    const settings = context.storedSettings(name);
    if (!(await confirmRemoval(context, name))) {
      await context.output.note(`Profile ${name} was not changed.`);
      return 0;
    }
    const outcome = await removeSecrets(context, settings, args.has('local'));
    const wasCurrent = await context.changeConfig((config) => {
      removeProfile(context.host.folders.config, config, name);
      return config.current === name;
    });
    await context.output.note([
      ...(outcome.kind === 'revoked' || outcome.kind === 'local' ? [logoutText(outcome, name)] : []),
      `Profile ${name} was removed.`,
      ...(wasCurrent ? ['No profile is current now; choose one with `cloudctl auth switch PROFILE`.'] : []),
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

/** Deletes the items of the profile in both credential stores, because the profile may have used the other store before. */
async function removeSecrets(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  local: boolean,
): Promise<LogoutOutcome> {
  const paths = context.profilePaths(settings.profileName);
  const outcome = await removeFromStore(context, settings, local);
  const other = settings.values.credential_store === 'file' ? 'keychain' : 'file';
  // If no keychain account id is stored, the profile never used the keychain.
  const mayHaveOther = other === 'file' || existingKeychainAccount(paths) !== undefined;
  const left = mayHaveOther ? await removeFromOtherStore(context, settings, other, local) : undefined;
  const unproven = [outcome, left].find((one) => one?.kind === 'unproven');
  try {
    // With the lock, because another process that has it needs its temporary files.
    const lock = await context.lock(paths.lock);
    try {
      removeProfileFiles(paths);
    } finally {
      lock.release();
    }
  } catch (error) {
    // That tokens may be valid matters more than a file that could not be removed.
    if (unproven === undefined) throw error;
  }
  if (left?.kind === 'unproven' && outcome.kind !== 'unproven') return left;
  return outcome.kind === 'nothing' && left !== undefined ? left : outcome;
}

async function removeFromStore(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  local: boolean,
): Promise<LogoutOutcome> {
  const outcome = await logoutProfile(context, settings, local);
  const lock = await context.lock(context.profilePaths(settings.profileName).lock);
  try {
    await removeClientSecret(await context.store(settings), lock);
  } finally {
    lock.release();
  }
  return outcome;
}

/** The credential store that the profile does not use may be unavailable. */
async function removeFromOtherStore(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  credential_store: 'keychain' | 'file',
  local: boolean,
): Promise<LogoutOutcome | undefined> {
  try {
    return await removeFromStore(context, { ...settings, values: { ...settings.values, credential_store } }, local);
  } catch (error) {
    if (!(error instanceof CliError && error.code === 'keychain_unavailable')) throw error;
    if (isKeychainMissing(error)) return undefined;
    await context.output.warn(
      `an earlier session or client secret may be left in the ${credential_store}: ${error.message}`,
    );
    return undefined;
  }
}
