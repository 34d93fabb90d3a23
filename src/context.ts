import type { ApiClient } from './api/client.ts';
import { type AdminApi, adminClient } from './api/sandbox-admin.ts';
import type { ProfileCommand } from './auth/session/index.ts';
import { CliError, usageError, withHint } from './base/errors.ts';
import { sanitizeLine } from './base/sanitize.ts';
import { usesColor } from './cli/color.ts';
import type { CommandSpec, ParsedArgs } from './cli/command.ts';
import { createOutput } from './cli/output.ts';
import { createPager } from './cli/pager-printer.ts';
import { createProgress } from './cli/progress.ts';
import { createPrompts } from './cli/prompts.ts';
import { compileJmespath, emptyNameError, fieldSelector } from './cli/query.ts';
import { showsHyperlinks } from './cli/text.ts';
import { requireDuration } from './cli/values.ts';
import { type ConfigFile, configLockPath, readConfig } from './config/config-file.ts';
import { adminAccess } from './config/sandboxes.ts';
import {
  nameProfile,
  type ProfileSettings,
  profileReference,
  resolveSettings,
  type TypedSettings,
} from './config/settings.ts';
import { globalSettings, resolveFormat } from './context/globals.ts';
import type { ProfileServices } from './context/services.ts';
import type { HostSystem, OutputSink, ProcessEnvironment, SendOptions } from './platform/host.ts';
import type { HttpSender } from './platform/http-sender.ts';
import { acquireLock, type HeldLock } from './platform/locks.ts';
import { unsafeVariable } from './platform/unsafe-variable.ts';
import { limitedSender } from './platform/waiting.ts';

/**
 * The services, settings and output that a command uses. Each service is created on first use. Only context.ts and
 * context/services.ts create services.
 */
export interface CommandContext extends ProfileCommand {
  readonly api: (settings: ProfileSettings) => Promise<ApiClient>;
  /** The admin API of the running sandbox. */
  readonly sandbox: (adminUrl: string | undefined) => Promise<AdminApi>;
}

/**
 * @param isDiagnosis whether the command reports settings that are not valid as its result; its output is never paged,
 * because a report of one screen needs no second program, which may be what is wrong
 */
export async function createContext(
  host: HostSystem,
  globals: ParsedArgs,
  isDiagnosis = false,
  spec: Pick<CommandSpec<CommandContext>, 'fields' | 'columns'> = {},
): Promise<CommandContext> {
  const query = globals.value('query');
  const selected = query === undefined ? undefined : await compileJmespath(query);
  const compiled = globals.has('json') ? fieldSelector(globals.values('json'), selected, spec) : selected;
  const columns = globals.values('format');
  if (columns.includes(''))
    throw emptyNameError(
      'format',
      spec.columns?.map(({ name }) => name),
    );
  const timeout = requireDuration(globals.value('timeout') ?? '30s', '--timeout', 1000);
  let known: ConfigFile | undefined;
  const config = (): ConfigFile => (known ??= readConfig(host.folders.config));
  const resolve = (env: ProcessEnvironment, options: TypedSettings): ProfileSettings =>
    resolveSettings({
      env,
      config: config(),
      profile: globals.value('profile'),
      overrides: { ...globalSettings(globals), ...options },
    });
  const settings = (options: TypedSettings = {}) => resolve(host.env, options);
  const sessionSettings = (options: TypedSettings = {}) =>
    resolve({ ...host.env, CLOUDCTL_ACCESS_TOKEN: undefined }, options);
  const isColored = (sink: OutputSink) => usesColor({ sink, env: host.env, noColor: globals.has('no-color') });
  const quiet = globals.has('quiet');
  const progress = createProgress({
    stderr: host.stderr,
    clock: host.clock,
    quiet,
    dumb: host.env.TERM === 'dumb',
  });
  const stderr = progress.guard(host.stderr);
  const stdout = progress.guard(host.stdout);
  const output = createOutput({
    stdout,
    stderr,
    format: resolveFormat(globals, settings, isDiagnosis ? { variable: host.env.CLOUDCTL_OUTPUT } : undefined),
    columns,
    header: !globals.has('no-header'),
    query: compiled,
    quiet,
    describe: (error) => withProfile(settings, error),
    color: isColored(host.stderr),
    // A value without its header, as in `$(… --format Status --no-header)`, is read by a program, in CI with FORCE_COLOR too.
    dataColor: isColored(host.stdout) && (host.stdout.isTTY || !globals.has('no-header')),
    now: () => host.clock.now(),
    hyperlinks: showsHyperlinks(host.stdout, host.env),
    paged: createPager({
      host,
      stdout,
      noPager: isDiagnosis || globals.has('no-pager'),
      before: () => progress.stop(),
    }),
  });
  const trace = globals.has('trace')
    ? (line: string): void => void stderr.write(`${sanitizeLine(line, 4000)}\n`)
    : undefined;
  const requireSafe = (): void => refuseUnsafeEnvironment(host);
  const send = async ({ obtainsTokens, ...options }: SendOptions = {}): Promise<HttpSender> => {
    const sending = await host.createSender({ env: host.env, trace, ...options });
    // Requests on a new connection have fixed time limits, which --timeout can only shorten.
    const isShortened = options.fresh === true && obtainsTokens !== true && globals.value('timeout') !== undefined;
    return isShortened ? limitedSender(sending, timeout) : sending;
  };
  const lock = (path: string): Promise<HeldLock> =>
    acquireLock(path, { waitMs: 45_000, clock: host.clock, random: host.random });
  const changeConfig = async <T>(change: (config: ConfigFile) => T): Promise<T> => {
    const held = await lock(configLockPath(host.folders.config));
    try {
      return change(readConfig(host.folders.config));
    } finally {
      held.release();
      known = undefined;
    }
  };
  const storedSettings = (profile: string): ProfileSettings => {
    const env = { CLOUDCTL_CREDENTIAL_STORE: host.env.CLOUDCTL_CREDENTIAL_STORE };
    const stored = resolveSettings({ env, config: config(), profile });
    return { ...stored, profile: { ...stored.profile, ...profileReference(profile, host.env, config()) } };
  };
  const prompts = createPrompts({
    streams: () => ({ input: host.stdin, output: host.screen }),
    isTerminal: () => host.stderr.isTTY && host.stdin.isTTY === true,
    noInput: globals.has('no-input'),
    yes: globals.has('yes'),
    color: isColored(host.stderr),
    // No progress is shown during a prompt, because its text would be drawn over the prompt.
    before: () => progress.stop(),
  });
  let loaded: Promise<ProfileServices> | undefined;
  const services = (): Promise<ProfileServices> => {
    loaded ??= import('./context/services.ts').then(({ createServices }) =>
      createServices({
        ...{ host, output, prompts, stderr, send, lock, requireSafe, config, timeout },
      }),
    );
    return loaded;
  };
  const sandbox = async (adminUrl: string | undefined): Promise<AdminApi> => {
    const admin = adminAccess(host.folders.state, host.env, adminUrl);
    if (admin !== undefined) return adminClient(await send(), admin.adminUrl, admin.adminToken);
    throw new CliError('not_found', 'no sandbox is running', {
      detail:
        adminUrl === undefined
          ? undefined
          : '--admin-url also requires the admin token in CLOUDCTL_SANDBOX_ADMIN_TOKEN',
      hint: 'start a sandbox: `cloudctl sandbox start`',
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
    sessionSettings,
    storedSettings,
    changeConfig,
    store: async (...of) => (await services()).store(...of),
    session: async (of) => (await services()).session(of),
    sessionRun: async (...of) => (await services()).sessionRun(...of),
    commandSession: async (...of) => (await services()).commandSession(...of),
    api: async (of) => (await services()).api(of),
    send,
    sandbox,
    lock,
    requireSafe,
    timeout,
  };
}

/** The error with a hint whose commands act on the profile of this command. */
export function withProfile(settings: () => ProfileSettings, error: CliError): CliError {
  if (error.hint === undefined) return error;
  try {
    return withHint(error, nameProfile(error.hint, settings().profile));
  } catch {
    // Without settings no profile is known; the error itself says why.
    return error;
  }
}

function refuseUnsafeEnvironment(host: HostSystem): void {
  const hazard = unsafeVariable(host.env);
  if (hazard === undefined) return;
  throw usageError(
    `cannot send secrets while ${hazard.variable} is set to ${hazard.value}`,
    `run \`unset ${hazard.variable}\``,
    `${hazard.variable}=${hazard.value} ${hazard.why}`,
  );
}
