import { readAccount, readStatus, type SessionStatus } from '../../auth/session/index.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { type ProfileSettings, type ProfileSource, profileSource } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { probeOrigin } from '../../platform/connector.ts';
import { SendError } from '../../platform/http-sender.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';

interface ProfileRow {
  readonly profile: string;
  readonly current: boolean;
  /** What selected the current profile; absent for the others. */
  readonly source?: ProfileSource;
  readonly auth_url: string | null;
  readonly email?: string;
  readonly team_name?: string;
  readonly state: SessionStatus['state'] | 'token_command';
}

const view: ListView<ProfileRow> = {
  columns: [
    { name: 'Profile', value: (row) => row.profile },
    { name: 'Current', value: (row) => (row.current ? '*' : '') },
    { name: 'AuthURL', value: (row) => row.auth_url },
    { name: 'Email', value: (row) => row.email },
    { name: 'Team', value: (row) => row.team_name, priority: 1 },
    { name: 'State', value: (row) => row.state, kind: 'state' },
    { name: 'Source', value: (row) => row.source, priority: 2 },
  ],
};

export const authList: CommandSpec<CommandContext> = {
  description:
    'Prints one row for each profile, and marks the one that commands use with what selected it: the option `--profile`, CLOUDCTL_PROFILE, or `auth switch` (current). The state is "unknown" if the keychain is not available, and "token_command" if a program prints the access token; the program is not run.',
  examples: [{ text: 'Print the names only', command: 'cloudctl auth list --format Profile --no-header' }],
  columns: view.columns,
  fields: ['profile', 'current', 'auth_url', 'email', 'team_name', 'state', 'source'],
  run: async (context) => {
    const config = context.config();
    const current = context.settings().profileName;
    const rows: ProfileRow[] = [];
    const { env } = context.host;
    const source = profileSource({ env, config, profile: context.globals.value('profile') });
    for (const name of config.profiles.keys())
      rows.push(await profileRow(context, name, name === current ? source : undefined));
    // A session may also exist for a profile that is defined only by environment variables.
    if (!config.profiles.has(current) && (await profileState(context, context.sessionSettings())) !== 'logged_out') {
      rows.push(await profileRow(context, current, source));
    }
    await context.output.list(rows, view);
    await noteEndedServers(context, rows);
    if (context.settings().accessToken !== undefined)
      await quietForJson(context).output.note(
        'CLOUDCTL_ACCESS_TOKEN is set: without `--profile`, commands use its access token, not the session of a profile.',
      );
    return 0;
  },
};

/** Time limit of a connection to a server of this machine, in milliseconds. */
const localLimitMs = 500;

/** A session of a sandbox that has ended is still stored as valid; only servers of this machine can be asked in no time. */
async function noteEndedServers(context: CommandContext, rows: readonly ProfileRow[]): Promise<void> {
  const ended = rows.map(async ({ profile, auth_url: url, state }) => {
    const isSession = state === 'valid' || state === 'expires_soon' || state === 'expired' || state === 'in_doubt';
    if (url === null || !isSession || !isLoopbackHost(new URL(url).hostname)) return [];
    const isReached = await probeOrigin(url, context.host.env, localLimitMs).then(
      () => true,
      (error: unknown) => !(error instanceof SendError && error.kind === 'refused'),
    );
    const remove = `cloudctl auth remove ${quoteShellArg(profile)} --local`;
    return isReached
      ? []
      : [`Profile ${profile}: no server runs at ${url}; if it has ended, remove the profile: \`${remove}\``];
  });
  const notes = (await Promise.all(ended)).flat();
  if (notes.length > 0) await quietForJson(context).output.note(notes);
}

async function profileRow(
  context: CommandContext,
  profile: string,
  source: ProfileSource | undefined,
): Promise<ProfileRow> {
  const isStored = context.config().profiles.has(profile);
  const settings = isStored ? context.storedSettings(profile) : context.sessionSettings();
  const hasSession = settings.values.token_command === undefined;
  const account = hasSession ? readAccount(context.host.folders.config, profile) : undefined;
  return {
    profile,
    current: source !== undefined,
    ...(source === undefined ? {} : { source }),
    auth_url: settings.values.auth_url ?? null,
    ...(account?.email === undefined ? {} : { email: account.email }),
    ...(account?.team_name === undefined ? {} : { team_name: account.team_name }),
    state: await profileState(context, settings),
  };
}

async function profileState(context: CommandContext, settings: ProfileSettings): Promise<ProfileRow['state']> {
  if (settings.values.token_command !== undefined) return 'token_command';
  return (await readStatus(context, settings))?.state ?? 'logged_out';
}
