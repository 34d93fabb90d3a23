import {
  type CommandTree,
  commandGroup,
  fillPlaceholder,
  lazyCommand,
  mapWordsToReplacementCommand,
} from '../cli/command.ts';

import type { CommandContext } from '../context.ts';

/** The words, the summary and the file of each command. The file of a command is loaded only when the command is typed. */
export const commandTree: CommandTree<CommandContext> = {
  auth: commandGroup(
    'log in, log out and manage profiles',
    {
      setup: lazyCommand(
        'create a profile or change it: servers, application, scope',
        async () => (await import('./auth/setup.ts')).authSetupCommand,
      ),
      login: lazyCommand('log in through the browser', async () => (await import('./auth/login.ts')).authLoginCommand),
      status: lazyCommand(
        'show the account and the expiry of the session',
        async () => (await import('./auth/status.ts')).authStatusCommand,
      ),
      whoami: lazyCommand(
        'show the account and the expiry of the session, as `auth status` does',
        async () => (await import('./auth/status.ts')).authStatusCommand,
      ),
      token: lazyCommand(
        'print the access token, refreshed first if it has expired',
        async () => (await import('./auth/token.ts')).authTokenCommand,
      ),
      refresh: lazyCommand(
        'refresh the access token now',
        async () => (await import('./auth/refresh.ts')).authRefreshCommand,
      ),
      logout: lazyCommand(
        'revoke the access token and delete the session',
        async () => (await import('./auth/logout.ts')).authLogoutCommand,
      ),
      list: lazyCommand(
        'list profiles and the state of their sessions',
        async () => (await import('./auth/list.ts')).authListCommand,
      ),
      remove: lazyCommand(
        'end the session of a profile and remove the profile',
        async () => (await import('./auth/remove.ts')).authRemoveCommand,
      ),
      switch: lazyCommand(
        'switch the current profile',
        async () => (await import('./auth/switch.ts')).authSwitchCommand,
      ),
    },
    {
      aliases: { ls: 'list', use: 'switch' },
      replacements: {
        ...mapWordsToReplacementCommand('cloudctl auth setup', ['init', 'configure', 'add', 'create', 'new']),
        ...mapWordsToReplacementCommand('cloudctl auth remove PROFILE', ['rm', 'delete']),
        ...mapWordsToReplacementCommand('cloudctl auth status', ['show', 'get', 'info', 'me', 'current', 'describe']),
        ...mapWordsToReplacementCommand('cloudctl auth token', ['print-access-token', 'print-token', 'get-token']),
        ...mapWordsToReplacementCommand('cloudctl auth logout', ['revoke', 'signout', 'clear']),
        ...mapWordsToReplacementCommand('cloudctl auth login', ['signin', 'connect']),
        ...mapWordsToReplacementCommand('cloudctl auth refresh', ['renew', 'rotate']),
      },
    },
  ),
  actions: commandGroup(
    'list and follow the actions of the account',
    {
      list: lazyCommand(
        'list actions, newest first',
        async () => (await import('./actions/list.ts')).actionsListCommand,
      ),
      get: lazyCommand(
        'show one action, or wait until it has ended',
        async () => (await import('./actions/get.ts')).actionsGetCommand,
      ),
    },
    {
      defaultCommand: 'list',
      aliases: { ls: 'list' },
      replacements: {
        ...mapWordsToReplacementCommand('cloudctl actions get ID', ['show', 'describe', 'view']),
        wait: 'cloudctl actions get ID --wait',
      },
    },
  ),
  droplets: commandGroup(
    'list, create and delete droplets',
    {
      list: lazyCommand('list droplets', async () => (await import('./droplets/list.ts')).dropletsListCommand),
      create: lazyCommand(
        'create droplets, one or many',
        async () => (await import('./droplets/create.ts')).dropletsCreateCommand,
      ),
      get: lazyCommand('show one droplet', async () => (await import('./droplets/get.ts')).dropletsGetCommand),
      delete: lazyCommand(
        'delete droplets by id, name, pattern or tag',
        async () => (await import('./droplets/delete.ts')).dropletsDeleteCommand,
      ),
      batches: commandGroup(
        'list, show and delete batches of `droplets create`',
        {
          list: lazyCommand(
            'list the batches whose ledgers are on this machine',
            async () => (await import('./droplets/batches/list.ts')).batchesListCommand,
          ),
          show: lazyCommand(
            'show the names and droplets of a batch',
            async () => (await import('./droplets/batches/show.ts')).batchesShowCommand,
          ),
          delete: lazyCommand(
            'delete the droplets that a batch created',
            async () => (await import('./droplets/batches/delete.ts')).batchesDeleteCommand,
          ),
        },
        { defaultCommand: 'list', aliases: { ls: 'list', rm: 'delete' } },
      ),
    },
    {
      defaultCommand: 'list',
      aliases: { ls: 'list', rm: 'delete' },
      replacements: {
        status: 'cloudctl droplets get DROPLET',
        actions: 'cloudctl actions list --resource-type droplet',
      },
    },
  ),
  db: commandGroup(
    'check an external database and migrate it online into a managed cluster',
    {
      list: lazyCommand(
        'list the clusters that can receive a migration',
        async () => (await import('./db/list.ts')).dbListCommand,
      ),
      preflight: lazyCommand(
        'check whether a database can be migrated',
        async () => (await import('./db/preflight.ts')).dbPreflightCommand,
      ),
      inventory: lazyCommand(
        'check whether many databases can be migrated, and what to fix first',
        async () => (await import('./db/inventory.ts')).dbInventoryCommand,
      ),
      rehearse: lazyCommand(
        'rehearse a migration into a server of your own and compare the result',
        async () => (await import('./db/rehearse.ts')).dbRehearseCommand,
      ),
      migrate: lazyCommand(
        'start the online migration of an external database into a cluster',
        async () => (await import('./db/migrate.ts')).dbMigrateCommand,
      ),
      watch: lazyCommand(
        'follow a running migration and report what would break it',
        async () => (await import('./db/watch.ts')).dbWatchCommand,
      ),
      status: lazyCommand(
        'show the migration into a cluster, or follow it until it has ended',
        async () => (await import('./db/status.ts')).dbStatusCommand,
      ),
      cutover: lazyCommand(
        'print what is left to do before the cut-over, with the next command',
        async () => (await import('./db/cutover.ts')).dbCutoverCommand,
      ),
      sequences: lazyCommand(
        "print the SQL that sets the target's sequences at the cut-over (PostgreSQL)",
        async () => (await import('./db/sequences.ts')).dbSequencesCommand,
      ),
      grants: lazyCommand(
        'print the SQL for the roles, owners and privileges that the target lacks (PostgreSQL)',
        async () => (await import('./db/grants.ts')).dbGrantsCommand,
      ),
      compare: lazyCommand(
        'compare the contents of source and target after a migration',
        async () => (await import('./db/compare.ts')).dbCompareCommand,
      ),
      stop: lazyCommand('stop the migration into a cluster', async () => (await import('./db/stop.ts')).dbStopCommand),
    },
    {
      aliases: { ls: 'list' },
      replacements: mapWordsToReplacementCommand('cloudctl db list', ['get', 'show', 'describe', 'info']),
    },
  ),
  api: lazyCommand('send a request to the resource API', async () => (await import('./api.ts')).apiCommand),
  config: commandGroup(
    'read and change the configuration',
    {
      get: lazyCommand(
        'print one setting of the profile',
        async () => (await import('./config/get.ts')).configGetCommand,
      ),
      set: lazyCommand(
        'set one setting of the profile',
        async () => (await import('./config/set.ts')).configSetCommand,
      ),
      unset: lazyCommand(
        'remove one setting of the profile',
        async () => (await import('./config/unset.ts')).configUnsetCommand,
      ),
      list: lazyCommand(
        'list the settings in use and the source of each',
        async () => (await import('./config/list.ts')).configListCommand,
      ),
      path: lazyCommand(
        'print the path of the configuration file',
        async () => (await import('./config/path.ts')).configPathCommand,
      ),
    },
    {
      aliases: { ls: 'list' },
      replacements: {
        ...mapWordsToReplacementCommand('cloudctl config get KEY', ['get-value', 'read']),
        ...mapWordsToReplacementCommand('cloudctl config unset KEY', ['rm', 'remove', 'delete', 'del', 'clear']),
        ...mapWordsToReplacementCommand('cloudctl config path', ['edit', 'file', 'where']),
        ...mapWordsToReplacementCommand('cloudctl config set KEY VALUE', ['add', 'put', 'set-value']),
        ...mapWordsToReplacementCommand('cloudctl auth setup', ['init', 'create', 'new', 'configure']),
        ...mapWordsToReplacementCommand('cloudctl auth list', ['get-contexts', 'configurations', 'profiles']),
        ...mapWordsToReplacementCommand('cloudctl auth switch PROFILE', ['use-context', 'use', 'switch']),
        ...mapWordsToReplacementCommand('cloudctl auth status', ['current-context', 'current']),
      },
      translate: ([verb = '', key]) => {
        if (!['show', 'view', 'print', 'dump', 'describe'].includes(verb)) return undefined;
        return key === undefined ? 'cloudctl config list' : fillPlaceholder('cloudctl config get KEY', key);
      },
    },
  ),
  open: lazyCommand('open a page of the control panel', async () => (await import('./open.ts')).openCommand),
  doctor: lazyCommand(
    'check what could prevent a login on this machine',
    async () => (await import('./doctor.ts')).doctorCommand,
  ),
  completion: lazyCommand(
    'print the completion script of a shell',
    async () => (await import('./completion.ts')).completionCommand,
  ),
  sandbox: commandGroup('run a local copy of the service', {
    start: lazyCommand('start the sandbox', async () => (await import('./sandbox/start.ts')).sandboxStartCommand),
    env: lazyCommand(
      'print the environment variables that select the sandbox',
      async () => (await import('./sandbox/env.ts')).sandboxEnvCommand,
    ),
    clock: lazyCommand(
      'read, advance, freeze or resume the virtual clock',
      async () => (await import('./sandbox/clock.ts')).sandboxClockCommand,
    ),
    faults: commandGroup('inject faults: cut connections, delays, damaged responses', {
      add: lazyCommand(
        'inject a fault into matching requests',
        async () => (await import('./sandbox/faults/add.ts')).sandboxFaultsAddCommand,
      ),
      list: lazyCommand(
        'list the faults and how often each applied',
        async () => (await import('./sandbox/faults/list.ts')).sandboxFaultsListCommand,
      ),
      clear: lazyCommand(
        'remove every fault',
        async () => (await import('./sandbox/faults/clear.ts')).sandboxFaultsClearCommand,
      ),
    }),
    requests: lazyCommand(
      'list the requests that the sandbox received',
      async () => (await import('./sandbox/requests.ts')).sandboxRequestsCommand,
    ),
    token: lazyCommand(
      'issue an access token without a browser',
      async () => (await import('./sandbox/token.ts')).sandboxTokenCommand,
    ),
    snapshot: lazyCommand(
      'save the state of the sandbox to a file',
      async () => (await import('./sandbox/snapshot.ts')).sandboxSnapshotCommand,
    ),
    restore: lazyCommand(
      'restore the state of the sandbox from a snapshot',
      async () => (await import('./sandbox/restore.ts')).sandboxRestoreCommand,
    ),
    reset: lazyCommand(
      'reset the sandbox to its initial state',
      async () => (await import('./sandbox/reset.ts')).sandboxResetCommand,
    ),
  }),
};

/** The command that runs when the user types `cloudctl` without arguments. */
export const programOverviewCommand = lazyCommand(
  'show the session, the actions in progress and the next command',
  async () => (await import('./overview.ts')).defaultOverviewCommand,
);
