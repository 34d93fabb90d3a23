import { endSession, hasClientSecret, type LogoutOutcome, requireOwnSession } from '../../auth/session/index.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import { findBinding, type ProfileSettings, requireNamedProfile } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { warnOfToken } from './environment-token.ts';

export const authLogout: CommandSpec<CommandContext> = {
  description:
    'Deletes the stored session, revokes its access token at the authorization server and checks that the resource API refuses it. If the server cannot be reached, the session is deleted nevertheless and the exit code is 6. The profile and its client secret stay for the next login; `auth remove` deletes them, too.',
  options: [
    { name: 'all', description: 'log out of every profile' },
    { name: 'local', description: 'delete the session without revoking the token' },
  ],
  examples: [
    { text: 'Log out of the current profile', command: 'cloudctl auth logout' },
    { text: 'End the sessions of every profile', command: 'cloudctl auth logout --all' },
  ],
  run: warnOfToken(async (context, args) => {
    const current = context.sessionSettings();
    if (args.has('all') && context.globals.value('profile') !== undefined)
      throw usageError('cannot use --all with --profile', 'remove one of the two options');
    if (args.has('all')) await logoutAllProfiles(context, current, args.has('local'));
    else await logoutCurrentProfile(context, current, args.has('local'));
    return 0 satisfies ExitCode;
  }),
};

async function logoutCurrentProfile(context: CommandContext, settings: ProfileSettings, local: boolean): Promise<void> {
  requireOwnSession(settings);
  const outcome = await endSession(context, settings, local);
  if (outcome.kind === 'unproven') throw outcome.error;
  // A missing profile without a session is probably a typing error; a session whose profile was removed can still be ended.
  if (outcome.kind === 'nothing' && findBinding(settings) === undefined)
    requireNamedProfile(settings, context.config(), nearestWord);
  await noteLogout(context, settings, outcome);
}

async function noteLogout(context: CommandContext, settings: ProfileSettings, outcome: Ended): Promise<void> {
  const { profileName: name } = settings;
  // `auth remove` needs a profile in config.json.
  const keepsSecret = context.config().profiles.has(name) && (await hasClientSecret(await context.store(settings)));
  const kept = `Its client secret stays stored for the next login; \`cloudctl auth remove ${quoteShellArg(name)}\` deletes profile and secret.`;
  await context.output.note([logoutText(outcome, name), ...(keepsSecret ? [kept] : [])]);
}

/**
 * Logs out of every profile in config.json, and of a profile that is defined only by environment variables. An error in one
 * profile does not prevent the logout of the others.
 */
async function logoutAllProfiles(context: CommandContext, current: ProfileSettings, local: boolean): Promise<void> {
  let first: CliError | undefined;
  for (const name of new Set([...context.config().profiles.keys(), current.profileName])) {
    const settings = name === current.profileName ? current : context.storedSettings(name);
    const outcome = await endSession(context, settings, local).catch(unprovenOutcome);
    if (outcome.kind === 'unproven') {
      const { message, hint } = outcome.error;
      // The hint of the first one is that of the error at the end.
      await context.output.warn(
        `profile ${name}: ${message}${first === undefined || hint === undefined ? '' : `; ${hint}`}`,
      );
      first ??= outcome.error;
    } else await noteLogout(context, settings, outcome);
  }
  if (first !== undefined) throw first;
}

function unprovenOutcome(thrown: unknown): LogoutOutcome {
  if (thrown instanceof CliError) return { kind: 'unproven', error: thrown };
  throw thrown;
}

type Ended = Exclude<LogoutOutcome, { kind: 'unproven' }>;

export function logoutText(outcome: Ended, profile: string): string {
  switch (outcome.kind) {
    case 'nothing':
      return `Profile ${profile} was not logged in.`;
    case 'local':
      return `Profile ${profile}: the session was deleted from this machine; its token was not revoked.`;
    case 'revoked':
      return `Profile ${profile} is logged out; the access token is revoked.`;
    default:
      return outcome satisfies never;
  }
}
