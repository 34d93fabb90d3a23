import { type AccountDetails, fetchTokenAccount } from '../../api/account-details.ts';
import type { ApiClient } from '../../api/client.ts';
import { personalTeam } from '../../base/identity.ts';
import type { ListView } from '../../cli/columns.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import { refusedHints } from './hints.ts';
import type { ProfileCommand } from './sessions.ts';

/** A command that sends requests to the resource API. */
interface ApiCommand extends ProfileCommand {
  readonly api: (settings: ProfileSettings) => Promise<ApiClient>;
}

/** An account in JSON, as far as the server names it. */
interface AccountFields {
  readonly name?: string;
  readonly email?: string;
  readonly uuid?: string;
  readonly team_name?: string;
  readonly team_uuid?: string;
}

/** The JSON output of `auth status` with CLOUDCTL_ACCESS_TOKEN or `token_command`, which contains no token. */
interface GivenTokenReport extends AccountFields {
  readonly source: 'CLOUDCTL_ACCESS_TOKEN' | 'token_command';
  readonly profile?: string;
  readonly base_url: string;
  /** The program of `token_command`, without its arguments. */
  readonly program?: string;
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

/** Checks the access token of CLOUDCTL_ACCESS_TOKEN with the resource API, which also returns the account. */
export async function printVariable(command: ApiCommand, settings: ProfileSettings): Promise<void> {
  const api = await command.api(settings);
  const account = await fetchTokenAccount(api, refusedHints(settings, command.host.folders.config));
  await command.output.object(
    {
      source: 'CLOUDCTL_ACCESS_TOKEN',
      base_url: api.baseOrigin,
      ...accountFields(account),
      state: 'valid',
      renewable: false,
    },
    view,
  );
  await command.output.note(
    'The server accepted the access token of CLOUDCTL_ACCESS_TOKEN. It cannot be renewed; its lifetime and its scope are not known.',
  );
}

/** Names the program of `token_command`; with `isChecked`, it is run and its token is checked with the resource API. */
export async function printTokenCommand(
  command: ApiCommand,
  settings: ProfileSettings,
  isChecked: boolean,
): Promise<void> {
  const { profileName, values } = settings;
  const session = await command.commandSession(settings);
  const source = {
    source: 'token_command',
    profile: profileName,
    base_url: values.base_url ?? '',
    program: values.token_command?.[0] ?? '',
  } as const;
  if (!isChecked) {
    await command.output.object({ ...source, state: 'not_checked', renewable: true }, commandView);
    await command.output.note('The program was not run. `--check` runs it and asks the server for the account.');
    return;
  }
  const hints = refusedHints(settings, command.host.folders.config);
  const account = await fetchTokenAccount(await command.api(settings), hints);
  const { expiresAt: expires_at } = await session.token();
  await command.output.object(
    {
      ...source,
      ...accountFields(account),
      ...(expires_at === undefined ? {} : { expires_at }),
      state: 'valid',
      renewable: true,
    },
    commandView,
  );
}

export function accountFields(account: AccountDetails): AccountFields {
  const fields = [
    ['name', account.name],
    ['email', account.email],
    ['uuid', account.accountUuid],
    ['team_name', account.teamName],
    ['team_uuid', account.team === personalTeam ? undefined : account.team],
  ] as const;
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
