import { formatDuration } from '../base/text.ts';
import type { ListView } from '../cli/columns.ts';
import type { CommandSpec } from '../cli/command.ts';
import type { CommandContext } from '../context.ts';
import { resourceActionListView } from './actions/list.ts';
import { formatProfileAndServerOptions } from './profile-options.ts';
import { type ProfileOverview, readProfileOverview } from './read-overview.ts';

/** Runs when `cloudctl` is typed without a command, so the overview has no command name and no help page. */
export const defaultOverviewCommand: CommandSpec<CommandContext> = {
  fields: [
    'profile',
    'state',
    'name',
    'email',
    'uuid',
    'team_name',
    'team_uuid',
    'scope',
    'expires_at',
    'expires_in',
    'days_left',
    'actions_in_progress',
    'migrations_in_progress',
    'problem',
    'next',
  ],
  run: async (context) => {
    const { output, globals } = context;
    const isPage =
      output.format === 'table' && globals.values('format').length === 0 && globals.value('query') === undefined;
    output.checkColumns(view);
    const overview = await readProfileOverview(context);
    const hasSession = overview.state !== 'logged_out';
    if (isPage && !hasSession) await output.text(startText);
    await output.object(overview, isPage ? withoutEmpty(overview) : view);
    const actions = overview.actions_in_progress ?? [];
    if (isPage && actions.length > 0) {
      await output.text('');
      await output.list(actions.slice(0, shownActions), resourceActionListView);
    }
    const list = ['cloudctl db list', ...formatProfileAndServerOptions(globals, context.settings().profile)].join(' ');
    await output.note([
      hasSession
        ? `Database clusters, to migrate into: \`${list}\`; how to migrate: \`cloudctl help migration\``
        : tryText,
      moreText,
    ]);
    return 0;
  },
};

/** The number of actions in progress that the overview lists; the row `Actions` shows how many exist. */
const shownActions = 5;

const startText = 'cloudctl: browser login, droplets in batch, online database migrations.\n\n';
const tryText = 'Try everything without an account: `cloudctl sandbox start`';
const moreText = 'All commands: `cloudctl --help`';

const view: ListView<ProfileOverview> = {
  columns: [
    { name: 'Profile', value: (row) => row.profile },
    { name: 'Account', value: accountOf },
    { name: 'UUID', value: (row) => row.uuid, extra: true },
    {
      name: 'Team',
      value: (row) => row.team_name ?? row.team_uuid ?? (row.uuid === undefined ? undefined : 'personal'),
    },
    { name: 'Scope', value: (row) => row.scope },
    { name: 'State', value: (row) => row.state, extra: true },
    { name: 'Session', value: sessionText },
    { name: 'ExpiresAt', value: (row) => row.expires_at, kind: 'time', extra: true },
    { name: 'DaysLeft', value: (row) => row.days_left, extra: true },
    { name: 'Actions', value: actionsText },
    { name: 'Migrations', value: migrationsText },
    { name: 'Problem', value: (row) => row.problem },
    { name: 'Next', value: (row) => row.next },
  ],
  // Commands in the table are not cut, because users paste them into a shell.
  untruncated: true,
};

/** Leaves out the rows of the overview that have no value. */
function withoutEmpty(overview: ProfileOverview): ListView<ProfileOverview> {
  return {
    ...view,
    columns: view.columns.filter(({ extra, value }) => extra !== true && value(overview) !== undefined),
  };
}

function accountOf({ name, email, uuid }: ProfileOverview): string | undefined {
  if (name === undefined) return email ?? uuid;
  return email === undefined ? name : `${name} <${email}>`;
}

function sessionText({ state, expires_in: left }: ProfileOverview): string {
  switch (state) {
    case 'valid':
    case 'expires_soon':
      return left === null || left === undefined ? 'valid' : `valid, ${formatDuration(left * 1000)} left`;
    case 'expired':
      return 'expired; the next command renews it';
    case 'in_doubt':
      return 'the last refresh was interrupted; the next command checks it';
    case 'needs_login':
      return 'ended';
    case 'logged_out':
      return 'not logged in';
    case 'unknown':
      return 'not known';
    case 'token':
      return 'the token of CLOUDCTL_ACCESS_TOKEN';
    case 'token_command':
      return 'the token that token_command prints';
    default:
      return state satisfies never;
  }
}

function actionsText({ actions_in_progress: actions }: ProfileOverview): string | undefined {
  if (actions === undefined) return undefined;
  return actions.length === 0 ? 'none in progress' : `${actions.length} in progress`;
}

function migrationsText({ migrations_in_progress: migrations = [] }: ProfileOverview): string | undefined {
  if (migrations.length === 0) return undefined;
  return migrations.map(({ cluster, status }) => `into cluster ${cluster}, ${status}`).join('; ');
}
