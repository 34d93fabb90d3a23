import { CliError, exitCodes } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { variableValue } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

type Run = CommandSpec<CommandContext>['run'];

/**
 * Adds a warning to the end of a command that changes a session or selects a profile: the variable still replaces both in later
 * commands. A logout that fails has deleted the session, so the warning precedes its error, too.
 */
export function warnOfToken(run: Run): Run {
  const warn = async (context: CommandContext): Promise<void> => {
    if (variableValue(context.host.env.CLOUDCTL_ACCESS_TOKEN) !== undefined)
      await quietForJson(context).output.warn(
        'CLOUDCTL_ACCESS_TOKEN is set: commands without `--profile` still use its access token; run `unset CLOUDCTL_ACCESS_TOKEN`',
      );
  };
  return async (context, args) => {
    try {
      const code = await run(context, args);
      await warn(context);
      return code;
    } catch (error) {
      // An error in the command line or the configuration has changed nothing.
      if (!(error instanceof CliError && error.exitCode === exitCodes.usage)) await warn(context);
      throw error;
    }
  };
}
