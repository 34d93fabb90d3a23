import type { ParsedArgs } from '../../cli/command.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { determineReportedSessionState } from '../../session/session-report.ts';
import type { StoredSessionReadResult } from '../../session/stored-session.ts';

/** In a terminal a valid session is replaced only after confirmation; a script replaces it without confirmation. */
export async function confirmSessionReplacement(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  stored: StoredSessionReadResult,
  args: ParsedArgs,
): Promise<boolean> {
  if (args.has('force') || !context.prompts.interactive) return true;
  if (
    stored.kind !== 'found' ||
    determineReportedSessionState(stored.record, context.host.clock.now()) === 'needs_login'
  )
    return true;
  return context.prompts.confirm({
    message: `Profile ${settings.profileName} is already logged in. Log in again?`,
    default: true,
    option: '--force',
  });
}
