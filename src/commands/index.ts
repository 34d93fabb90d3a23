import type { CommandGroup, CommandSpec, CommandTree, LazyCommand } from '../cli/command.ts';
import type { Context } from '../context.ts';

/** Every command: the one registry. A command's file is only read when it is typed. */
export const commandTree: CommandTree<Context> = {
  auth: commandGroup('log in and out, and see who is logged in', {
    setup: lazyCommand(
      'tell a profile its servers and its registered application',
      async () => (await import('./auth/setup.ts')).authSetupCommand,
    ),
    login: lazyCommand('log in through the browser', async () => (await import('./auth/login.ts')).authLoginCommand),
    status: lazyCommand(
      'show who is logged in, and for how long',
      async () => (await import('./auth/status.ts')).authStatusCommand,
    ),
    token: lazyCommand('print the access token', async () => (await import('./auth/token.ts')).authTokenCommand),
    refresh: lazyCommand('renew the session now', async () => (await import('./auth/refresh.ts')).authRefreshCommand),
    logout: lazyCommand(
      'revoke the session and delete it',
      async () => (await import('./auth/logout.ts')).authLogoutCommand,
    ),
    list: lazyCommand('list the profiles', async () => (await import('./auth/list.ts')).authListCommand),
    switch: lazyCommand(
      'make another profile the current one',
      async () => (await import('./auth/switch.ts')).authSwitchCommand,
    ),
  }),
  actions: commandGroup(
    'see what was done on the account',
    {
      list: lazyCommand(
        'list actions, newest first',
        async () => (await import('./actions/list.ts')).actionsListCommand,
      ),
    },
    { defaultCommand: 'list', replacements: apiReplacements('/v2/actions/ID', ['get', 'show']) },
  ),
  droplets: commandGroup(
    'list and create droplets',
    {
      list: lazyCommand('list droplets', async () => (await import('./droplets/list.ts')).dropletsListCommand),
      create: lazyCommand(
        'create droplets, one or many',
        async () => (await import('./droplets/create.ts')).dropletsCreateCommand,
      ),
    },
    {
      defaultCommand: 'list',
      replacements: {
        ...apiReplacements('/v2/droplets/ID', ['get', 'show', 'describe']),
        ...apiReplacements('/v2/droplets/ID', ['delete', 'rm', 'remove', 'destroy'], 'DELETE'),
        actions: 'cloudctl actions list --resource-type droplet',
      },
    },
  ),
  db: commandGroup('judge an external database and migrate it online into a managed cluster', {
    preflight: lazyCommand(
      'tell the truth about a source database before anything is touched',
      async () => (await import('./db/preflight.ts')).dbPreflightCommand,
    ),
    migrate: lazyCommand(
      'start the online migration of an external database into a cluster',
      async () => (await import('./db/migrate.ts')).dbMigrateCommand,
    ),
    watch: lazyCommand(
      'follow a migration from its source, and see what would break it',
      async () => (await import('./db/watch.ts')).dbWatchCommand,
    ),
    rehearse: lazyCommand(
      'do the whole migration into a server of your own, compare, and remove it again',
      async () => (await import('./db/rehearse.ts')).dbRehearseCommand,
    ),
    sequences: lazyCommand(
      "print the statements that set the target's sequences at cut-over",
      async () => (await import('./db/sequences.ts')).dbSequencesCommand,
    ),
  }),
  api: lazyCommand('send any request to the resource API', async () => (await import('./api.ts')).apiCommand),
  config: commandGroup('read and change the configuration', {
    get: lazyCommand('print one value of the profile', async () => (await import('./config/get.ts')).configGetCommand),
    set: lazyCommand('set one value of the profile', async () => (await import('./config/set.ts')).configSetCommand),
    unset: lazyCommand(
      'remove one value of the profile',
      async () => (await import('./config/unset.ts')).configUnsetCommand,
    ),
    list: lazyCommand(
      'list the values in force and where each comes from',
      async () => (await import('./config/list.ts')).configListCommand,
    ),
    path: lazyCommand(
      'print where the configuration file is',
      async () => (await import('./config/path.ts')).configPathCommand,
    ),
  }),
  doctor: lazyCommand(
    'look for what would stop a login on this machine',
    async () => (await import('./doctor.ts')).doctorCommand,
  ),
  completion: lazyCommand(
    'print a completion script for a shell',
    async () => (await import('./completion.ts')).completionCommand,
  ),
  sandbox: commandGroup('run the whole service on this machine', {
    start: lazyCommand('start the sandbox', async () => (await import('./sandbox/start.ts')).sandboxStartCommand),
    env: lazyCommand(
      'print the variables that point to the sandbox',
      async () => (await import('./sandbox/env.ts')).sandboxEnvCommand,
    ),
    clock: lazyCommand(
      'read, move, stop or start the virtual clock',
      async () => (await import('./sandbox/clock.ts')).sandboxClockCommand,
    ),
    faults: commandGroup('make requests go wrong: cut connections, delays, broken answers', {
      add: lazyCommand(
        'make requests go wrong',
        async () => (await import('./sandbox/faults/add.ts')).sandboxFaultsAddCommand,
      ),
      list: lazyCommand(
        'list the faults that were added',
        async () => (await import('./sandbox/faults/list.ts')).sandboxFaultsListCommand,
      ),
      clear: lazyCommand(
        'take every fault back',
        async () => (await import('./sandbox/faults/clear.ts')).sandboxFaultsClearCommand,
      ),
    }),
    requests: lazyCommand(
      'list the requests the sandbox answered',
      async () => (await import('./sandbox/requests.ts')).sandboxRequestsCommand,
    ),
    token: lazyCommand(
      'issue tokens without a browser',
      async () => (await import('./sandbox/token.ts')).sandboxTokenCommand,
    ),
    snapshot: lazyCommand(
      'write everything the sandbox knows into a file',
      async () => (await import('./sandbox/snapshot.ts')).sandboxSnapshotCommand,
    ),
    restore: lazyCommand(
      'put the sandbox back into a state that was written into a file',
      async () => (await import('./sandbox/restore.ts')).sandboxRestoreCommand,
    ),
    reset: lazyCommand(
      'put the sandbox back to its beginning',
      async () => (await import('./sandbox/reset.ts')).sandboxResetCommand,
    ),
  }),
};

function lazyCommand(summary: string, load: () => Promise<CommandSpec<Context>>): LazyCommand<Context> {
  return { kind: 'command', summary, load };
}

function commandGroup(
  summary: string,
  children: CommandTree<Context>,
  more: Pick<CommandGroup<Context>, 'defaultCommand' | 'replacements'> = {},
): CommandGroup<Context> {
  return { kind: 'group', summary, children, ...more };
}

/** Verbs of other programs for one resource, which is a request of its own here. */
function apiReplacements(path: string, verbs: readonly string[], method = 'GET'): Readonly<Record<string, string>> {
  return Object.fromEntries(verbs.map((verb) => [verb, `cloudctl api ${method} ${path}`]));
}
