import type { Branch, CommandSpec, Leaf, Tree } from '../cli/command.ts';
import type { Context } from '../context.ts';

/** Every command: the one registry. A command's file is only read when it is typed. */
export const commands: Tree<Context> = {
  auth: branch('log in and out, and see who is logged in', {
    setup: leaf(
      'tell a profile its servers and its registered application',
      async () => (await import('./auth/setup.ts')).setup,
    ),
    login: leaf('log in through the browser', async () => (await import('./auth/login.ts')).login),
    status: leaf('show who is logged in, and for how long', async () => (await import('./auth/status.ts')).status),
    token: leaf('print the access token', async () => (await import('./auth/token.ts')).token),
    refresh: leaf('renew the session now', async () => (await import('./auth/refresh.ts')).refresh),
    logout: leaf('revoke the session and delete it', async () => (await import('./auth/logout.ts')).logout),
    list: leaf('list the profiles', async () => (await import('./auth/list.ts')).list),
    switch: leaf('make another profile the current one', async () => (await import('./auth/switch.ts')).switchProfile),
  }),
  actions: branch(
    'see what was done on the account',
    { list: leaf('list actions, newest first', async () => (await import('./actions/list.ts')).list) },
    { fallback: 'list', elsewhere: one('/v2/actions/ID', ['get', 'show']) },
  ),
  droplets: branch(
    'list and create droplets',
    {
      list: leaf('list droplets', async () => (await import('./droplets/list.ts')).list),
      create: leaf('create droplets, one or many', async () => (await import('./droplets/create.ts')).create),
    },
    {
      fallback: 'list',
      elsewhere: {
        ...one('/v2/droplets/ID', ['get', 'show', 'describe']),
        ...one('/v2/droplets/ID', ['delete', 'rm', 'remove', 'destroy'], 'DELETE'),
        actions: 'cloudctl actions list --resource-type droplet',
      },
    },
  ),
  db: branch('judge an external database and migrate it online into a managed cluster', {
    preflight: leaf(
      'tell the truth about a source database before anything is touched',
      async () => (await import('./db/preflight.ts')).preflight,
    ),
    migrate: leaf(
      'start the online migration of an external database into a cluster',
      async () => (await import('./db/migrate.ts')).migrate,
    ),
    watch: leaf(
      'follow a migration from its source, and see what would break it',
      async () => (await import('./db/watch.ts')).watch,
    ),
    rehearse: leaf(
      'do the whole migration into a server of your own, compare, and remove it again',
      async () => (await import('./db/rehearse.ts')).rehearse,
    ),
    sequences: leaf(
      "print the statements that set the target's sequences at cut-over",
      async () => (await import('./db/sequences.ts')).sequences,
    ),
  }),
  api: leaf('send any request to the resource API', async () => (await import('./api.ts')).api),
  config: branch('read and change the configuration', {
    get: leaf('print one value of the profile', async () => (await import('./config/get.ts')).get),
    set: leaf('set one value of the profile', async () => (await import('./config/set.ts')).set),
    unset: leaf('remove one value of the profile', async () => (await import('./config/unset.ts')).unset),
    list: leaf(
      'list the values in force and where each comes from',
      async () => (await import('./config/list.ts')).list,
    ),
    path: leaf('print where the configuration file is', async () => (await import('./config/path.ts')).path),
  }),
  doctor: leaf('look for what would stop a login on this machine', async () => (await import('./doctor.ts')).doctor),
  completion: leaf('print a completion script for a shell', async () =>
    (await import('./completion.ts')).completionOf(commands),
  ),
  sandbox: branch('run the whole service on this machine', {
    start: leaf('start the sandbox', async () => (await import('./sandbox/start.ts')).start),
    env: leaf('print the variables that point to the sandbox', async () => (await import('./sandbox/env.ts')).env),
    clock: leaf('read, move, stop or start the virtual clock', async () => (await import('./sandbox/clock.ts')).clock),
    faults: branch('make requests go wrong: cut connections, delays, broken answers', {
      add: leaf('make requests go wrong', async () => (await import('./sandbox/faults/add.ts')).add),
      list: leaf('list the faults that were added', async () => (await import('./sandbox/faults/list.ts')).list),
      clear: leaf('take every fault back', async () => (await import('./sandbox/faults/clear.ts')).clear),
    }),
    requests: leaf(
      'list the requests the sandbox answered',
      async () => (await import('./sandbox/requests.ts')).requests,
    ),
    token: leaf('issue tokens without a browser', async () => (await import('./sandbox/token.ts')).token),
    snapshot: leaf(
      'write everything the sandbox knows into a file',
      async () => (await import('./sandbox/snapshot.ts')).snapshot,
    ),
    restore: leaf(
      'put the sandbox back into a state that was written into a file',
      async () => (await import('./sandbox/restore.ts')).restore,
    ),
    reset: leaf('put the sandbox back to its beginning', async () => (await import('./sandbox/reset.ts')).reset),
  }),
};

function leaf(summary: string, load: () => Promise<CommandSpec<Context>>): Leaf<Context> {
  return { kind: 'leaf', summary, load };
}

function branch(
  summary: string,
  children: Tree<Context>,
  more: Pick<Branch<Context>, 'fallback' | 'elsewhere'> = {},
): Branch<Context> {
  return { kind: 'branch', summary, children, ...more };
}

/** Verbs of other programs for one resource, which is a request of its own here. */
function one(path: string, verbs: readonly string[], method = 'GET'): Readonly<Record<string, string>> {
  return Object.fromEntries(verbs.map((verb) => [verb, `cloudctl api ${method} ${path}`]));
}
