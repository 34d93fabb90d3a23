import { type CommandTree, commandGroup, fillPlaceholder, lazyCommand, replaceWords } from '../cli/command.ts';
import type { CommandContext } from '../context.ts';

/** The words, the summary and the file of each command. The file of a command is loaded only when the command is typed. */
export const commandTree: CommandTree<CommandContext> = {
  auth: commandGroup(
    'log in, log out and manage profiles',
    {
      setup: lazyCommand(
        'create a profile or change it: servers, application, scope',
        async () => (await import('./auth/setup.ts')).authSetup,
      ),
      login: lazyCommand('log in through the browser', async () => (await import('./auth/login.ts')).authLogin),
      status: lazyCommand(
        'show the account and the expiry of the session',
        async () => (await import('./auth/status.ts')).authStatus,
      ),
      whoami: lazyCommand(
        'show the account and the expiry of the session, as `auth status` does',
        async () => (await import('./auth/status.ts')).authStatus,
      ),
      token: lazyCommand(
        'print the access token, refreshed first if it has expired',
        async () => (await import('./auth/token.ts')).authToken,
      ),
      refresh: lazyCommand('refresh the access token now', async () => (await import('./auth/refresh.ts')).authRefresh),
      logout: lazyCommand(
        'revoke the access token and delete the session',
        async () => (await import('./auth/logout.ts')).authLogout,
      ),
      list: lazyCommand(
        'list profiles and the state of their sessions',
        async () => (await import('./auth/list.ts')).authList,
      ),
      remove: lazyCommand(
        'end the session of a profile and remove the profile',
        async () => (await import('./auth/remove.ts')).authRemove,
      ),
      switch: lazyCommand('switch the current profile', async () => (await import('./auth/switch.ts')).authSwitch),
    },
    {
      aliases: { ls: 'list', use: 'switch' },
      replacements: {
        ...replaceWords('cloudctl auth setup', ['init', 'configure', 'add', 'create', 'new']),
        ...replaceWords('cloudctl auth remove PROFILE', ['rm', 'delete']),
        ...replaceWords('cloudctl auth status', ['show', 'get', 'info', 'me', 'current', 'describe']),
        ...replaceWords('cloudctl auth token', ['print-access-token', 'print-token', 'get-token']),
        ...replaceWords('cloudctl auth logout', ['revoke', 'signout', 'clear']),
        ...replaceWords('cloudctl auth login', ['signin', 'connect']),
        ...replaceWords('cloudctl auth refresh', ['renew', 'rotate']),
      },
    },
  ),
  actions: commandGroup(
    'list and follow the actions of the account',
    {
      list: lazyCommand('list actions, newest first', async () => (await import('./actions/list.ts')).actionsList),
      get: lazyCommand(
        'show one action, or wait until it has ended',
        async () => (await import('./actions/get.ts')).actionsGet,
      ),
    },
    {
      defaultCommand: 'list',
      aliases: { ls: 'list' },
      replacements: {
        ...replaceWords('cloudctl actions get ID', ['show', 'describe', 'view']),
        wait: 'cloudctl actions get ID --wait',
      },
    },
  ),
  droplets: commandGroup(
    'list, create and delete droplets',
    {
      list: lazyCommand('list droplets', async () => (await import('./droplets/list.ts')).dropletsList),
      create: lazyCommand(
        'create droplets, one or many',
        async () => (await import('./droplets/create.ts')).dropletsCreate,
      ),
      get: lazyCommand('show one droplet', async () => (await import('./droplets/get.ts')).dropletsGet),
      delete: lazyCommand(
        'delete droplets by id, name, pattern or tag',
        async () => (await import('./droplets/delete.ts')).dropletsDelete,
      ),
      batches: commandGroup(
        'list, show and delete batches of `droplets create`',
        {
          list: lazyCommand(
            'list the batches whose ledgers are on this machine',
            async () => (await import('./droplets/batches/list.ts')).batchesList,
          ),
          show: lazyCommand(
            'show the names and droplets of a batch',
            async () => (await import('./droplets/batches/show.ts')).batchesShow,
          ),
          delete: lazyCommand(
            'delete the droplets that a batch created',
            async () => (await import('./droplets/batches/delete.ts')).batchesDelete,
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
        async () => (await import('./db/list.ts')).dbList,
      ),
      preflight: lazyCommand(
        'check whether a database can be migrated',
        async () => (await import('./db/preflight.ts')).dbPreflight,
      ),
      inventory: lazyCommand(
        'check whether many databases can be migrated, and what to fix first',
        async () => (await import('./db/inventory.ts')).dbInventory,
      ),
      rehearse: lazyCommand(
        'rehearse a migration into a server of your own and compare the result',
        async () => (await import('./db/rehearse.ts')).dbRehearse,
      ),
      migrate: lazyCommand(
        'start the online migration of an external database into a cluster',
        async () => (await import('./db/migrate.ts')).dbMigrate,
      ),
      watch: lazyCommand(
        'follow a running migration and report what would break it',
        async () => (await import('./db/watch.ts')).dbWatch,
      ),
      status: lazyCommand(
        'show the migration into a cluster, or follow it until it has ended',
        async () => (await import('./db/status.ts')).dbStatus,
      ),
      cutover: lazyCommand(
        'print what is left to do before the cut-over, with the next command',
        async () => (await import('./db/cutover.ts')).dbCutover,
      ),
      sequences: lazyCommand(
        "print the SQL that sets the target's sequences at the cut-over (PostgreSQL)",
        async () => (await import('./db/sequences.ts')).dbSequences,
      ),
      grants: lazyCommand(
        'print the SQL for the roles, owners and privileges that the target lacks (PostgreSQL)',
        async () => (await import('./db/grants.ts')).dbGrants,
      ),
      compare: lazyCommand(
        'compare the contents of source and target after a migration',
        async () => (await import('./db/compare.ts')).dbCompare,
      ),
      stop: lazyCommand('stop the migration into a cluster', async () => (await import('./db/stop.ts')).dbStop),
    },
    {
      aliases: { ls: 'list' },
      replacements: replaceWords('cloudctl db list', ['get', 'show', 'describe', 'info']),
    },
  ),
  api: lazyCommand('send a request to the resource API', async () => (await import('./api.ts')).apiCommand),
  config: commandGroup(
    'read and change the configuration',
    {
      get: lazyCommand('print one setting of the profile', async () => (await import('./config/get.ts')).configGet),
      set: lazyCommand('set one setting of the profile', async () => (await import('./config/set.ts')).configSet),
      unset: lazyCommand(
        'remove one setting of the profile',
        async () => (await import('./config/unset.ts')).configUnset,
      ),
      list: lazyCommand(
        'list the settings in use and the source of each',
        async () => (await import('./config/list.ts')).configList,
      ),
      path: lazyCommand(
        'print the path of the configuration file',
        async () => (await import('./config/path.ts')).configShowPath,
      ),
    },
    {
      aliases: { ls: 'list' },
      replacements: {
        ...replaceWords('cloudctl config get KEY', ['get-value', 'read']),
        ...replaceWords('cloudctl config unset KEY', ['rm', 'remove', 'delete', 'del', 'clear']),
        ...replaceWords('cloudctl config path', ['edit', 'file', 'where']),
        ...replaceWords('cloudctl config set KEY VALUE', ['add', 'put', 'set-value']),
        ...replaceWords('cloudctl auth setup', ['init', 'create', 'new', 'configure']),
        ...replaceWords('cloudctl auth list', ['get-contexts', 'configurations', 'profiles']),
        ...replaceWords('cloudctl auth switch PROFILE', ['use-context', 'use', 'switch']),
        ...replaceWords('cloudctl auth status', ['current-context', 'current']),
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
    start: lazyCommand('start the sandbox', async () => (await import('./sandbox/start.ts')).sandboxStart),
    env: lazyCommand(
      'print the environment variables that select the sandbox',
      async () => (await import('./sandbox/env.ts')).sandboxEnv,
    ),
    clock: lazyCommand(
      'read, advance, freeze or resume the virtual clock',
      async () => (await import('./sandbox/clock.ts')).sandboxClock,
    ),
    faults: commandGroup('inject faults: cut connections, delays, damaged responses', {
      add: lazyCommand(
        'inject a fault into matching requests',
        async () => (await import('./sandbox/faults/add.ts')).faultsAdd,
      ),
      list: lazyCommand(
        'list the faults and how often each applied',
        async () => (await import('./sandbox/faults/list.ts')).faultsList,
      ),
      clear: lazyCommand('remove every fault', async () => (await import('./sandbox/faults/clear.ts')).faultsClear),
    }),
    requests: lazyCommand(
      'list the requests that the sandbox received',
      async () => (await import('./sandbox/requests.ts')).sandboxRequests,
    ),
    token: lazyCommand(
      'issue an access token without a browser',
      async () => (await import('./sandbox/token.ts')).sandboxToken,
    ),
    snapshot: lazyCommand(
      'save the state of the sandbox to a file',
      async () => (await import('./sandbox/snapshot.ts')).sandboxSnapshot,
    ),
    restore: lazyCommand(
      'restore the state of the sandbox from a snapshot',
      async () => (await import('./sandbox/restore.ts')).sandboxRestore,
    ),
    reset: lazyCommand(
      'reset the sandbox to its initial state',
      async () => (await import('./sandbox/reset.ts')).sandboxReset,
    ),
  }),
};

/** The command that runs when the user types `cloudctl` without arguments. */
export const overviewCommand = lazyCommand(
  'show the session, the actions in progress and the next command',
  async () => (await import('./overview.ts')).overviewSpec,
);
