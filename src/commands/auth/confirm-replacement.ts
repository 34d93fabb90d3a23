import type { SessionStatus } from '../../auth/session/index.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { commandFor, type ResolvedProfileSettings } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

/**
 * In a terminal a valid session is replaced only after confirmation; a script replaces it without confirmation. A session that
 * this login cannot revoke, because it is of other servers or cannot be read, is named in any case.
 */
export async function confirmSessionReplacement(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  status: SessionStatus | undefined,
  args: ParsedArgs,
): Promise<boolean> {
  const found = describeReplacedSession(settings, status);
  if (found === undefined) return true;
  if (!args.has('force') && context.prompts.interactive)
    return context.prompts.confirm({ message: `${found.text} Log in again?`, default: true, option: '--force' });
  if (found.hint !== undefined) await context.output.warn(`${found.text} ${found.hint}`);
  return true;
}

function describeReplacedSession(
  { profile, profileName }: ResolvedProfileSettings,
  status: SessionStatus | undefined,
): { readonly text: string; readonly hint?: string } | undefined {
  if (status === undefined || status.isEnded) return undefined;
  const { stored } = status;
  if (stored.kind === 'damaged')
    return {
      text: `The stored session of profile ${profileName} cannot be read, so this login cannot revoke its tokens.`,
      hint: 'They stay valid until they expire.',
    };
  if (stored.kind !== 'found' && stored.kind !== 'elsewhere') return undefined;
  if (stored.kind === 'found') return { text: `Profile ${profileName} is already logged in.` };
  const { record } = stored;
  const application = record.clientId === '' ? 'no client ID' : `client ID ${sanitizeLine(record.clientId)}`;
  return {
    text: `Profile ${profileName} is logged in at ${record.authOrigin} (API ${record.baseOrigin}) with ${application}. This login replaces that session without revoking its tokens.`,
    hint: `To revoke them, run ${commandFor(profile, 'auth logout')} before the login.`,
  };
}
