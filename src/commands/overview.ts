import { fetchTokenAccount } from '../api/account-details.ts';
import { listAllActions } from '../api/actions.ts';
import type { Actor } from '../api/actor.ts';
import { type ApiClient, createClient } from '../api/client.ts';
import { fetchMigration, isMigrationActive } from '../api/online-migration.ts';
import {
  accountFields,
  type LoginReport,
  loggedInProfiles,
  readStatus,
  type SessionStatus,
} from '../auth/session/index.ts';
import { CliError } from '../base/errors.ts';
import { compareIdentities } from '../base/identity.ts';
import { type JsonRecord, readStringField } from '../base/json.ts';
import type { Secret } from '../base/secret.ts';
import { formatDuration, quoteShellArg } from '../base/text.ts';
import type { ListView } from '../cli/columns.ts';
import type { CommandSpec } from '../cli/command.ts';
import { nearestWord } from '../cli/values.ts';
import { lastSandbox } from '../config/sandboxes.ts';
import { type ProfileSettings, requireNamedProfile } from '../config/settings.ts';
import { actorOf } from '../context/actor.ts';
import type { CommandContext } from '../context.ts';
import { listStarted } from '../db/watch/record.ts';
import { listBatches } from '../droplets/index.ts';
import { timeoutSignal } from '../platform/waiting.ts';
import { actionView } from './actions/list.ts';
import { forgetEnded } from './sandbox/record.ts';

/** The output of `cloudctl` without a command. It contains no token. */
export interface Overview
  extends Partial<Pick<LoginReport, 'name' | 'email' | 'uuid' | 'team_name' | 'team_uuid' | 'scope' | 'expires_at'>> {
  readonly profile: string;
  /**
   * `unknown`: the credential store could not be read; `refused`: the server refused the access token; `token`: CLOUDCTL_ACCESS_TOKEN is used; `token_command`: a program prints
   * the access token.
   */
  readonly state: SessionStatus['state'] | 'refused' | 'token' | 'token_command';
  /** Seconds until the access token expires; null: not known. */
  readonly expires_in?: number | null;
  /** Whole days until the access token expires. */
  readonly days_left?: number | null;
  /** The actions in progress, of the latest 200 actions; undefined when the actions could not be read. */
  readonly actions_in_progress?: readonly JsonRecord[];
  /** Migrations that this machine started and that have not ended, as the service reports them. */
  readonly migrations_in_progress?: readonly MigrationInProgress[];
  /** The reason why a part of the overview is missing. */
  readonly problem?: string;
  /** The command that the overview suggests to the user. */
  readonly next: string;
}

interface MigrationInProgress {
  /** UUID. */
  readonly cluster: string;
  readonly id: string;
  readonly status: string;
}

/** Time limit in milliseconds, for all requests together and for the keychain. */
const limitMs = 2_500;

interface Run {
  readonly context: CommandContext;
  readonly settings: ProfileSettings;
  readonly actor: Actor;
}

/**
 * Reads the state of the profile, its session and the actions in progress. Requests take at most 2.5 seconds; an error is
 * described in `problem`. The session is not refreshed, because that could take longer.
 */
export async function readOverview(context: CommandContext): Promise<Overview> {
  const settings = context.settings();
  const run: Run = { context, settings, actor: actorOf(context) };
  const { command } = run.actor;
  const { profileName: profile, accessToken } = settings;
  if (accessToken !== undefined) return readWithToken(run, accessToken, 'token');
  if (settings.values.token_command !== undefined) return readWithTokenCommand(run);
  requireNamedProfile(settings, context.config(), nearestWord);
  const status = await readStatus(context, settings, limitMs);
  if (status === undefined)
    return {
      profile,
      state: 'logged_out',
      next: settings.isProfileStored
        ? command('auth login')
        : (otherProfile(context, settings) ?? command('auth setup')),
    };
  const { stored, state } = status;
  if (stored.kind === 'unavailable') return { profile, state, problem: stored.reason, next: command('doctor') };
  if (stored.kind !== 'found' || status.report === undefined)
    return {
      profile,
      state,
      next: command(settings.profile.isTokenOnly ? 'auth login --with-token' : 'auth login'),
    };
  const {
    scope_verified: _verified,
    store: _store,
    flow: _flow,
    pending_write: _pending,
    store_place: _place,
    auth_url: _auth,
    base_url: _base,
    sandbox: _sandbox,
    ...report
  } = status.report;
  const left = report.expires_in;
  const session = { ...report, days_left: left === null ? null : Math.floor(left / 86_400) };
  const login = status.login.slice(1, -1);
  if (state === 'needs_login') return { ...session, next: login };
  if (state === 'expired' || state === 'in_doubt') return { ...session, next: command('auth status --check') };
  // The next command renews a session with a refresh token, and so needs no login.
  const isRenewable = stored.record.refreshToken !== undefined;
  const shown = await readActions(run, stored.record.accessToken, isRenewable ? command('auth refresh') : login);
  return { ...session, ...shown };
}

/** The command that selects the one logged-in profile, in place of a profile that the user neither set up nor selected. */
function otherProfile({ config, host }: CommandContext, { profile }: ProfileSettings): string | undefined {
  const [first, ...more] = profile.isDefault ? loggedInProfiles(config(), host.folders.config) : [];
  if (first === undefined) return undefined;
  return more.length === 0 ? `cloudctl auth switch ${quoteShellArg(first)}` : 'cloudctl auth list';
}

/** The program has as much time as the keychain. */
async function readWithTokenCommand(run: Run): Promise<Overview> {
  const { context, settings, actor } = run;
  const state = 'token_command';
  try {
    const token = await (await context.commandSession(settings, limitMs)).bearer();
    return await readWithToken(run, token, state);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'token_command_failed') throw error;
    const { profileName: profile } = settings;
    return { profile, state, problem: error.message, next: actor.command('doctor') };
  }
}

async function readWithToken(run: Run, token: Secret, state: 'token' | 'token_command'): Promise<Overview> {
  const { settings, actor } = run;
  const api = await createBoundedApi(run, token);
  const [account, actions] = await Promise.all([
    fetchTokenAccount(api, actor.loginHints()).catch(() => ({})),
    readActions(run, token, state === 'token' ? 'unset CLOUDCTL_ACCESS_TOKEN' : actor.command('doctor')),
  ]);
  return { profile: settings.profileName, ...accountFields(account), ...actions, state };
}

/**
 * Reads the actions in progress and chooses the next command. An error of the API is returned as `problem` and not
 * thrown.
 */
async function readActions(
  run: Run,
  token: Secret,
  login: string,
): Promise<Pick<Overview, 'actions_in_progress' | 'migrations_in_progress' | 'problem' | 'next'> & Partial<Overview>> {
  try {
    const api = await createBoundedApi(run, token);
    const actions: JsonRecord[] = [];
    for await (const page of listAllActions(api, { limit: 200 })) actions.push(...page.map(({ raw }) => raw));
    const running = actions.filter((action) => readStringField(action, 'status') === 'in-progress');
    const migrations = await readMigrations(run, api);
    const [migration] = migrations;
    return {
      actions_in_progress: running,
      ...(migrations.length === 0 ? {} : { migrations_in_progress: migrations }),
      next:
        migration === undefined ? nextCommand(run, running.length) : run.actor.command('db status', migration.cluster),
    };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const isRefused = error.code === 'token_refused';
    return isRefused
      ? { state: 'refused', problem: error.message, next: login }
      : { problem: error.message, next: unreachableNext(run) };
  }
}

/** A migration that cannot be read is left out without a reason, because the overview must be fast. */
async function readMigrations({ context, actor }: Run, api: ApiClient): Promise<readonly MigrationInProgress[]> {
  const recorded = listStarted(context.host.folders.state);
  if (recorded.length === 0) return [];
  const current = await actor.storedIdentity();
  const own = recorded.filter(
    ({ started: { identity } }) => identity === undefined || compareIdentities(identity, current) !== 'different',
  );
  const shown = own.slice(0, maxMigrations).map(async ({ started: { cluster } }) => {
    const migration = await fetchMigration(api, cluster).catch(() => undefined);
    const { id = '', status = 'unknown' } = migration ?? {};
    return migration === undefined || !isMigrationActive(migration) ? [] : [{ cluster, id, status }];
  });
  return (await Promise.all(shown)).flat();
}

/** The number of migrations that the overview reads, because each migration costs a request. */
const maxMigrations = 3;

function nextCommand({ context, settings, actor: { command } }: Run, running: number): string {
  const unfinished = listBatches(context.host.folders.state).find(
    ({ state, profile }) => state === 'unfinished' && profile === settings.profileName,
  );
  if (unfinished !== undefined) return command(`droplets create --resume ${quoteShellArg(unfinished.path)}`);
  return command(running > 0 ? 'actions list --status in-progress --watch' : 'droplets list');
}

/** A sandbox that ended is no longer recorded; its profile stays. */
function unreachableNext({ settings, actor }: Run): string {
  return settings.profileName === 'sandbox' ? 'cloudctl sandbox start' : actor.command('doctor');
}

/**
 * Creates a client of the resource API that uses only this token and never refreshes it. All requests of the client end
 * at one deadline.
 */
async function createBoundedApi({ context, settings, actor }: Run, token: Secret): Promise<ApiClient> {
  context.requireSafe();
  const { base_url: baseOrigin } = settings.values;
  const { clock } = context.host;
  const hints = actor.loginHints();
  const send = await context.send();
  const deadline = timeoutSignal(limitMs);
  return createClient({
    baseOrigin: baseOrigin ?? '',
    send: (url, init) => send(url, { ...init, signal: AbortSignal.any([init.signal, deadline]) }),
    bearer: async () => token,
    renew: async () => {
      throw new CliError('token_refused', 'the resource API refused the access token', { hint: hints.login });
    },
    // The client normally pauses before it repeats a failed request. The overview must be fast, so the pause is skipped.
    clock: { now: clock.now, sleep: async () => undefined },
    timeout: Math.min(context.timeout, limitMs),
    loginHints: hints,
  });
}

/** Runs when `cloudctl` is typed without a command, so the overview has no command name and no help page. */
export const overviewSpec: CommandSpec<CommandContext> = {
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
    const overview = await readOverview(context);
    const hasSession = overview.state !== 'logged_out';
    if (isPage && !hasSession) await output.text(startText);
    await output.object(overview, isPage ? withoutEmpty(overview) : view);
    const actions = overview.actions_in_progress ?? [];
    if (isPage && actions.length > 0) {
      await output.text('');
      await output.list(actions.slice(0, shownActions), actionView);
    }
    const list = actorOf(context).command('db list');
    await output.note([
      hasSession
        ? `Database clusters, to migrate into: \`${list}\`; how to migrate: \`cloudctl help migration\``
        : await tryText(context),
      moreText,
    ]);
    return 0;
  },
};

/** The number of actions in progress that the overview lists; the row `Actions` shows how many exist. */
const shownActions = 5;

const startText = 'cloudctl: browser login, droplets in batch, online database migrations.\n\n';
/** The next step with the sandbox, if its profile is of one that runs; else the command that starts it. */
async function tryText(context: CommandContext): Promise<string> {
  const { state } = context.host.folders;
  if (lastSandbox(state) !== undefined) await forgetEnded(context);
  const running = lastSandbox(state)?.auth_url;
  const isRunning = running !== undefined && context.storedSettings('sandbox').values.auth_url === running;
  if (isRunning && loggedInProfiles(context.config(), context.host.folders.config).includes('sandbox'))
    return 'A sandbox is running, and profile sandbox is logged in: `cloudctl --profile sandbox droplets list`';
  return isRunning
    ? 'A sandbox is running: `cloudctl --profile sandbox auth login`'
    : 'Try everything without an account: `cloudctl sandbox start`';
}
const moreText = 'All commands: `cloudctl --help`';

const view: ListView<Overview> = {
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
};

/** Leaves out the rows of the overview that have no value. */
function withoutEmpty(overview: Overview): ListView<Overview> {
  return {
    ...view,
    columns: view.columns.filter(({ extra, value }) => extra !== true && value(overview) !== undefined),
  };
}

function accountOf({ name, email, uuid }: Overview): string | undefined {
  if (name === undefined) return email ?? uuid;
  return email === undefined ? name : `${name} <${email}>`;
}

function sessionText({ state, expires_in: left }: Overview): string {
  switch (state) {
    case 'valid':
    case 'expires_soon':
      return left === null || left === undefined ? 'valid' : `valid, ${formatDuration(left * 1000)} left`;
    case 'expired':
      return 'expired; the next command renews it';
    case 'in_doubt':
      return 'the last refresh was interrupted; the next command checks it';
    case 'refused':
      return 'refused by the server';
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

function actionsText({ actions_in_progress: actions }: Overview): string | undefined {
  if (actions === undefined) return undefined;
  return actions.length === 0 ? 'none in progress' : `${actions.length} in progress`;
}

function migrationsText({ migrations_in_progress: migrations = [] }: Overview): string | undefined {
  if (migrations.length === 0) return undefined;
  return migrations.map(({ cluster, status }) => `into cluster ${cluster}, ${status}`).join('; ');
}
