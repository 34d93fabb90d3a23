import { type AccountDetails, fetchAccountOfToken } from '../../api/account-details.ts';
import { personalTeamValue } from '../../base/identity.ts';
import type { ListView } from '../../cli/columns.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { buildRefusedRequestHints } from '../../session/session-server-binding.ts';

/** The JSON output of `auth status` with CLOUDCTL_ACCESS_TOKEN, which contains no token. */
interface EnvironmentTokenReport {
  readonly source: 'CLOUDCTL_ACCESS_TOKEN';
  readonly base_url: string;
  readonly name?: string;
  readonly email?: string;
  readonly uuid?: string;
  readonly team_name?: string;
  readonly team_uuid?: string;
  /** Always `valid`: for a refused access token the command ends with an error and prints no report. */
  readonly state: 'valid';
  readonly renewable: false;
}

const view: ListView<EnvironmentTokenReport> = {
  columns: [
    { name: 'Source', value: (row) => row.source },
    { name: 'BaseURL', value: (row) => row.base_url },
    { name: 'Name', value: (row) => row.name },
    { name: 'Email', value: (row) => row.email },
    { name: 'UUID', value: (row) => row.uuid },
    { name: 'Team', value: (row) => row.team_name ?? row.team_uuid },
    { name: 'State', value: (row) => row.state },
    { name: 'Renewable', value: (row) => row.renewable },
  ],
};

/** Checks the access token of CLOUDCTL_ACCESS_TOKEN with the resource API, which also returns the account. */
export async function printEnvironmentTokenStatus(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): Promise<void> {
  const api = await context.api(settings);
  const account = await fetchAccountOfToken(api, buildRefusedRequestHints(settings, context.host.folders.config));
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

function reportedAccount(account: AccountDetails): Partial<EnvironmentTokenReport> {
  const fields = [
    ['name', account.name],
    ['email', account.email],
    ['uuid', account.accountUuid],
    ['team_name', account.teamName],
    ['team_uuid', account.team === personalTeamValue ? undefined : account.team],
  ] as const;
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
