import { type Api, createApi } from './api/client.ts';
import { createSandboxAdmin, type SandboxAdminApi } from './api/sandbox.ts';
import { wantsColor } from './cli/color.ts';
import type { Words } from './cli/command.ts';
import { duration } from './cli/duration.ts';
import { createOutput, type Output } from './cli/output.ts';
import { createProgress, type Progress } from './cli/progress.ts';
import { createPrompts, type Prompts } from './cli/prompts.ts';
import { compileQuery } from './cli/query.ts';
import { cleanLines } from './cli/sanitize.ts';
import { type Config, configLock, readConfig } from './config/file.ts';
import { sandboxAdmin } from './config/sandbox.ts';
import { resolveSettings, type Settings, type TypedOptions } from './config/settings.ts';
import { storedSession } from './context/session.ts';
import { formatOf, globalOptions } from './context/typed.ts';
import { CliError, usage } from './errors.ts';
import type { Client } from './oauth/token-endpoint.ts';
import { bounded } from './platform/bounded.ts';
import type { Host, SendOptions } from './platform/host.ts';
import { acquireLock, type HeldLock } from './platform/lock.ts';
import type { Send } from './platform/send.ts';
import { tokenCallHazard } from './platform/unsafe-environment.ts';
import type { Secret } from './secret.ts';
import { readClientSecret } from './session/client-secret.ts';
import { createWalJournal } from './session/journal-wal.ts';
import { keychainAccount, type Place, placeOf } from './session/place.ts';
import type { Binding } from './session/record.ts';
import type { Session } from './session/session.ts';
import type { CredentialStore } from './session/store.ts';
import { createFileStore } from './session/store-file.ts';
import { createKeychainStore } from './session/store-keychain.ts';
import { fixedBearer, requireBinding, wayIn } from './session/wiring.ts';

/** The only wiring: from the machine and the words typed to the services a command asks for, each made on first use. */
export interface Context {
  readonly host: Host;
  readonly globals: Words;
  readonly output: Output;
  readonly prompts: Prompts;
  /** What is going on, on stderr of a terminal; lines elsewhere. */
  readonly progress: Progress;
  /** config.json as it is. Throws DamagedConfig. */
  readonly config: () => Config;
  /** The one precedence, with a command's own options on top. */
  readonly settings: (options?: TypedOptions) => Settings;
  /** A profile as config.json has it, whatever was typed for this run; for commands that look at several. */
  readonly storedSettings: (profile: string) => Settings;
  /** Reads config.json again under its lock, lets it be changed, and forgets what was read before. */
  readonly changeConfig: <T>(change: (config: Config) => T) => Promise<T>;
  readonly place: (profile: string) => Place;
  readonly store: (settings: Settings) => CredentialStore;
  /** A bearer for the resource API: the stored session, or `CLOUDCTL_ACCESS_TOKEN`. */
  readonly session: (settings: Settings) => Session;
  readonly api: (settings: Settings) => Promise<Api>;
  readonly send: (options?: Pick<SendOptions, 'fresh'>) => Promise<Send>;
  /** The admin API of the sandbox that runs. */
  readonly sandbox: (adminUrl: string | undefined) => Promise<SandboxAdminApi>;
  readonly client: (settings: Settings, binding: Binding) => Promise<Client>;
  readonly lock: (path: string) => Promise<HeldLock>;
  /** Throws when the environment would print or expose requests with secrets. */
  readonly requireSafe: () => void;
  /** Milliseconds of one HTTP request. */
  readonly timeout: number;
}

export async function createContext(host: Host, globals: Words): Promise<Context> {
  const query = globals.text('query');
  const compiled = query === undefined ? undefined : await compileQuery(query);
  const timeout = duration(globals.text('timeout') ?? '30s', '--timeout', 1000);
  let known: Config | undefined;
  const config = (): Config => {
    known ??= readConfig(host.folders.config);
    return known;
  };
  const settings = (options: TypedOptions = {}): Settings =>
    resolveSettings({
      env: host.env,
      config: config(),
      profile: globals.text('profile'),
      options: { ...globalOptions(globals), ...options },
    });
  const color = wantsColor({ sink: host.stderr, env: host.env, noColor: globals.flag('no-color') });
  const quiet = globals.flag('quiet');
  const progress = createProgress({ stderr: host.stderr, clock: host.clock, quiet, dumb: host.env.TERM === 'dumb' });
  const stderr = progress.guard(host.stderr);
  const output = createOutput({
    stdout: progress.guard(host.stdout),
    stderr,
    format: formatOf(globals, settings),
    columns: globals.list('format'),
    header: !globals.flag('no-header'),
    query: compiled,
    quiet,
    color,
  });
  const trace = globals.flag('trace') ? (line: string): void => void stderr.write(`${cleanLines(line)}\n`) : undefined;
  const requireSafe = (): void => refuseHazard(host);
  const send = async (options: Pick<SendOptions, 'fresh'> = {}): Promise<Send> => {
    const sending = await host.send({ env: host.env, trace, ...options });
    // The token endpoint has a deadline of its own (refresh.md step 7), which a person may shorten. Calls of the API carry theirs.
    const isShortened = options.fresh === true && globals.text('timeout') !== undefined;
    return isShortened ? bounded(sending, timeout) : sending;
  };
  const place = (profile: string): Place => placeOf(host.folders.state, profile);
  const lock = (path: string): Promise<HeldLock> =>
    acquireLock(path, { waitMs: 45_000, clock: host.clock, random: host.random });
  const changeConfig = async <T>(change: (config: Config) => T): Promise<T> => {
    const held = await lock(configLock(host.folders.config));
    try {
      return change(readConfig(host.folders.config));
    } finally {
      held.release();
      known = undefined;
    }
  };
  const storedSettings = (profile: string): Settings =>
    resolveSettings({
      env: { CLOUDCTL_CREDENTIAL_STORE: host.env.CLOUDCTL_CREDENTIAL_STORE },
      config: config(),
      profile,
    });
  const prompts = createPrompts({
    streams: { input: host.stdin, output: host.screen },
    noInput: globals.flag('no-input'),
    yes: globals.flag('yes'),
    color,
    // It would be drawn over the question again and again.
    before: () => progress.stop(),
  });
  const store = (current: Settings): CredentialStore => {
    const at = place(current.profileName);
    if (current.values.credential_store === 'file') return createFileStore(at);
    return createKeychainStore({
      profile: current.profileName,
      keychain: host.keychain,
      account: lazy(() => keychainAccount(at, host.random)),
      limit: prompts.interactive ? 60_000 : 3_000,
      onWaiting: () => {
        if (prompts.interactive) void stderr.write('waiting for the keychain to be unlocked\n');
      },
      platform: host.platform,
      journal: createWalJournal(at),
    });
  };
  const client = async (current: Settings, binding: Binding): Promise<Client> => ({
    authOrigin: binding.authOrigin,
    clientId: binding.clientId,
    clientSecret: ownSecret(current, binding) ?? (await readClientSecret(store(current), binding)),
    tokenParams: current.values.token_params ?? 'query',
  });
  const session = (current: Settings): Session => {
    if (current.accessToken !== undefined) return fixedBearer(current.accessToken);
    const binding = requireBinding(current, config());
    const at = place(current.profileName);
    const parts = { host, output, prompts, place: at, store: store(current), client, send, lock, requireSafe };
    return storedSession(parts, current, binding, async (...ended) =>
      (await import('./context/way-back.ts')).comeBack(...ended),
    );
  };
  const api = async (current: Settings): Promise<Api> => {
    requireSafe();
    const bearer = session(current);
    return createApi({
      baseOrigin: requireBase(current),
      send: await send(),
      bearer: bearer.bearer,
      renew: (refused: Secret) => bearer.renew(refused),
      clock: host.clock,
      timeout,
      wayIn: wayIn(current, host.folders.config),
    });
  };
  const sandbox = async (adminUrl: string | undefined): Promise<SandboxAdminApi> => {
    const admin = sandboxAdmin(host.folders.state, host.env, adminUrl);
    if (admin !== undefined) return createSandboxAdmin(await send(), admin.adminUrl, admin.adminToken);
    throw new CliError('not_found', 'no running sandbox is known', {
      detail:
        adminUrl === undefined
          ? undefined
          : 'for --admin-url the admin token is needed as well, in CLOUDCTL_SANDBOX_ADMIN_TOKEN',
      hint: '`cloudctl sandbox start`',
    });
  };
  return {
    host,
    globals,
    output,
    prompts,
    progress,
    config,
    settings,
    storedSettings,
    changeConfig,
    place,
    store,
    session,
    api,
    send,
    sandbox,
    client,
    lock,
    requireSafe,
    timeout,
  };
}

/** The secret of the environment belongs to the application the settings name, and goes to no other server. */
function ownSecret({ clientSecret, values }: Settings, { authOrigin, clientId }: Binding): Secret | undefined {
  return values.auth_url === authOrigin && values.client_id === clientId ? clientSecret : undefined;
}

function requireBase(settings: Settings): string {
  const base = settings.values.base_url;
  if (base === undefined)
    throw usage('base_url is missing', 'give it with --base-url or CLOUDCTL_BASE_URL, or run `cloudctl auth setup`');
  return base;
}

function refuseHazard(host: Host): void {
  const hazard = tokenCallHazard(host.env);
  if (hazard === undefined) return;
  throw usage(
    `cannot send secrets while ${hazard.variable} is set to ${hazard.value}`,
    `\`unset ${hazard.variable}\``,
    `${hazard.variable}=${hazard.value} ${hazard.why}`,
  );
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
