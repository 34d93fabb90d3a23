import { type AccountDetails, fetchAccountOfToken } from '../../api/account-details.ts';
import { refusedHints } from '../../auth/session/index.ts';
import { CliError, exitCodes } from '../../base/errors.ts';
import { personalTeamValue } from '../../base/identity.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { normalizeEnvironmentVariableValue, type ResolvedProfileSettings } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

/** The JSON output of `auth status` with CLOUDCTL_ACCESS_TOKEN or `token_command`, which contains no token. */
interface GivenTokenReport {
  readonly source: 'CLOUDCTL_ACCESS_TOKEN' | 'token_command';
  readonly profile?: string;
  readonly base_url: string;
  /** The program of `token_command`, without its arguments. */
  readonly program?: string;
  readonly name?: string;
  readonly email?: string;
  readonly uuid?: string;
  readonly team_name?: string;
  readonly team_uuid?: string;
  /** The expiry that the program printed. */
  readonly expires_at?: string;
  /** For a refused access token the command ends with an error and prints no report. */
  readonly state: 'valid' | 'not_checked';
  readonly renewable: boolean;
}

const view: ListView<GivenTokenReport> = {
  columns: [
    { name: 'Source', value: (row) => row.source },
    { name: 'Profile', value: (row) => row.profile, extra: true },
    { name: 'BaseURL', value: (row) => row.base_url },
    { name: 'Program', value: (row) => row.program, extra: true },
    { name: 'Name', value: (row) => row.name },
    { name: 'Email', value: (row) => row.email },
    { name: 'UUID', value: (row) => row.uuid },
    { name: 'Team', value: (row) => row.team_name ?? row.team_uuid },
    { name: 'ExpiresAt', value: (row) => row.expires_at, kind: 'time', extra: true },
    { name: 'State', value: (row) => row.state },
    { name: 'Renewable', value: (row) => row.renewable },
  ],
};

/** The view for `token_command`, whose report always has a profile and a program. */
const commandView: ListView<GivenTokenReport> = {
  columns: view.columns.map(({ extra: _hidden, ...column }) => column),
};

type Run = CommandSpec<CommandContext>['run'];

/**
 * Adds a warning to the end of a command that changes a session or selects a profile: the variable still replaces both in later
 * commands. A logout that fails has deleted the session, so the warning precedes its error, too.
 */
export function warnOfAccessTokenVariable(run: Run): Run {
  const warn = async (context: CommandContext): Promise<void> => {
    if (normalizeEnvironmentVariableValue(context.host.env.CLOUDCTL_ACCESS_TOKEN) !== undefined)
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

/** Checks the access token of CLOUDCTL_ACCESS_TOKEN with the resource API, which also returns the account. */
export async function printEnvironmentTokenStatus(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): Promise<void> {
  const api = await context.api(settings);
  const account = await fetchAccountOfToken(api, refusedHints(settings, context.host.folders.config));
  await context.output.object(
    {
      source: 'CLOUDCTL_ACCESS_TOKEN',
      base_url: api.baseOrigin,
      ...reportedAccount(account),
      state: 'valid',
      renewable: false,
    },
    view,
  );
  await context.output.note(
    'The server accepted the access token of CLOUDCTL_ACCESS_TOKEN. It cannot be renewed; its lifetime and its scope are not known.',
  );
}

/** Names the program of `token_command`; with `isChecked`, it is run and its token is checked with the resource API. */
export async function printTokenCommandStatus(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  isChecked: boolean,
): Promise<void> {
  const { profileName, values } = settings;
  const session = await context.commandSession(settings);
  const source = {
    source: 'token_command',
    profile: profileName,
    base_url: values.base_url ?? '',
    program: values.token_command?.[0] ?? '',
  } as const;
  if (!isChecked) {
    await context.output.object({ ...source, state: 'not_checked', renewable: true }, commandView);
    await context.output.note('The program was not run. `--check` runs it and asks the server for the account.');
    return;
  }
  const hints = refusedHints(settings, context.host.folders.config);
  const account = await fetchAccountOfToken(await context.api(settings), hints);
  const { expiresAt: expires_at } = await session.token();
  await context.output.object(
    {
      ...source,
      ...reportedAccount(account),
      ...(expires_at === undefined ? {} : { expires_at }),
      state: 'valid',
      renewable: true,
    },
    commandView,
  );
}

function reportedAccount(account: AccountDetails): Partial<GivenTokenReport> {
  const fields = [
    ['name', account.name],
    ['email', account.email],
    ['uuid', account.accountUuid],
    ['team_name', account.teamName],
    ['team_uuid', account.team === personalTeamValue ? undefined : account.team],
  ] as const;
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
