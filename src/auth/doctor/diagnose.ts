import { CliError } from '../../base/errors.ts';
import { toCliError } from '../../cli/error-output.ts';
import type { OutputWriter } from '../../cli/output.ts';
import type { ProgressReporter } from '../../cli/progress.ts';
import { nearestWord } from '../../cli/values.ts';
import { type ConfigFile, configPath, DamagedConfigError } from '../../config/config-file.ts';
import { damagedConfig } from '../../config/damaged-config-error.ts';
import {
  commandFor,
  findBinding,
  type ProfileSettings,
  requireNamedProfile,
  resolveSettings,
  type TypedSettings,
} from '../../config/settings.ts';
import { detectBrowser, findOpener } from '../../platform/browser.ts';
import { requireHome } from '../../platform/folders.ts';
import { requireOwnFolder } from '../../platform/own-folder.ts';
import { proxyFor } from '../../platform/proxy.ts';
import { trustOf } from '../../platform/trust.ts';
import { unsafeVariable } from '../../platform/unsafe-variable.ts';
import { parseCallback } from '../loopback/index.ts';
import {
  type CommandOfSessions,
  profilePaths,
  readStatus,
  type SessionStatus,
  type Sessions,
  unreachableHint,
} from '../session/index.ts';
import { checkBrowser, checkEnvironment, checkPath, checkSurroundings } from './browser.ts';
import { type Finding, failedFinding } from './finding.ts';
import { checkPorts, probePorts } from './ports.ts';
import { checkCommandProfile, checkLoginProfile, checkSecret, checkVariables } from './profile.ts';
import { checkEndpoint, checkTrust, type Endpoint } from './servers.ts';
import { checkStateFolder, probeFolder, probeKeychain } from './stores.ts';

/** What the checks use of the command. */
export interface DoctorCommand extends Sessions, Pick<CommandOfSessions, 'host' | 'config' | 'prompts' | 'send'> {
  readonly output: Pick<OutputWriter, 'show'>;
  readonly progress: Pick<ProgressReporter, 'show'>;
  /** Time limit of one HTTP request, in milliseconds. */
  readonly timeout: number;
}

/**
 * The findings, part by part.
 * @param profile the option `--profile`
 * @param overrides the options that replace settings of the profile
 */
export async function* diagnose(
  context: DoctorCommand,
  profile: string | undefined,
  overrides: TypedSettings,
): AsyncGenerator<readonly Finding[]> {
  const { host, progress } = context;
  const config = await readConfig(context);
  const variables = checkVariables(host.env, overrides);
  yield [config.finding, ...variables.findings, checkPath(host.program, host.env, host.platform)];
  // Wrong arguments of `cloudctl doctor` are reported as errors, as for every command.
  const settings = resolveSettings({ env: variables.valid, config: config.value, profile, overrides });
  const runtime = detectBrowser(host.env, host.platform);
  const stateFolder = () => [
    checkStateFolder(host.folders.state, profilePaths(host.folders.state, settings.profileName)),
  ];
  const hasTokenCommand = settings.values.token_command !== undefined;
  const unknown = config.finding.status === 'ok' ? unknownProfile(settings, config.value, profile) : undefined;
  if (unknown !== undefined) yield [unknown];
  else if (config.finding.status !== 'ok')
    yield [{ id: 'profile', status: 'skipped', observed: 'config.json was not read' }];
  else yield [hasTokenCommand ? checkCommandProfile(settings) : checkLoginProfile(settings)];
  yield environmentFindings(context, settings);
  if (hasTokenCommand) {
    yield await attempt('state-folder', stateFolder);
    await progress.show('running the program of token_command');
    yield [await runTokenCommand(context, settings)];
    yield* checkEndpoints(context, settings);
    return;
  }
  const facts = {
    runtime,
    isTerminal: host.stderr.isTTY,
    browser: host.env.BROWSER,
    opener: findOpener(host.env, host.platform),
    profile: settings.profile,
  };
  yield [checkSurroundings(facts), checkBrowser(facts)];
  const folder = await attempt('state-folder', stateFolder);
  yield folder;
  // Without the profile, it is not known which credential store and which client a login would use.
  if (unknown === undefined && config.finding.status === 'ok') {
    await progress.show('checking the credential store');
    const id = settings.values.credential_store === 'file' ? 'credential-file' : 'keychain';
    const store = await attempt(id, async () => [await probeCredentialStore(context, settings)]);
    yield store;
    const isUsable = [...store, ...folder].every(({ status }) => status === 'ok');
    yield await attempt('session', () => checkSession(context, settings, isUsable));
  }
  yield* checkEndpoints(context, settings);
  yield await attempt('callback-urls', () => checkCallbackPorts(settings));
}

type Checked = Promise<readonly Finding[]> | readonly Finding[];

/** A check that throws is a failed check: the other checks may show why. An error of the program itself is still an error. */
async function attempt(id: string, check: () => Checked): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (thrown) {
    const error = toCliError(thrown);
    if (error.code === 'cancelled' || error.code === 'internal') throw thrown;
    return [failedFinding(id, error)];
  }
}

async function* checkEndpoints(context: DoctorCommand, settings: ProfileSettings): AsyncGenerator<readonly Finding[]> {
  const endpoints = profileEndpoints(settings);
  for (const endpoint of endpoints) {
    const { id, origin } = endpoint;
    const proxy = await attempt(id, () => {
      proxyFor(new URL(origin), context.host.env);
      return [];
    });
    if (proxy.length > 0) {
      yield [{ id, status: 'skipped', observed: `${origin} was not requested, because the proxy is not valid` }];
      continue;
    }
    await context.progress.show(`checking ${origin}`);
    yield await attempt(id, async () =>
      checkEndpoint(endpoint, {
        send: await context.send({ fresh: true }),
        now: () => context.host.clock.now(),
        timeout: context.timeout,
      }),
    );
  }
  if (endpoints.some(({ origin }) => origin.startsWith('https:')))
    yield await attempt('certificates', () => checkTrust(trustOf(context.host.env)));
}

/** Runs the program of `token_command`. Its token is not sent. */
async function runTokenCommand(context: DoctorCommand, settings: ProfileSettings): Promise<Finding> {
  const id = 'token-command';
  const { clock } = context.host;
  const program = settings.values.token_command?.[0];
  const begun = clock.now();
  try {
    const { expiresAt } = await (await context.commandSession(settings)).token();
    const took = `${program} printed an access token in ${((clock.now() - begun) / 1000).toFixed(1)} s`;
    if (expiresAt === undefined) return { id, status: 'ok', observed: took };
    const isExpired = Date.parse(expiresAt.toUpperCase()) <= clock.now();
    const observed = `${took}; it ${isExpired ? 'expired' : 'expires'} at ${expiresAt}`;
    return isExpired
      ? { id, status: 'warning', observed, hint: 'renew the session that the program reads' }
      : { id, status: 'ok', observed };
  } catch (error) {
    if (!(error instanceof CliError) || error.code === 'cancelled') throw error;
    return failedFinding(id, error);
  }
}

/** A damaged config.json counts as empty for the other checks. */
async function readConfig(context: DoctorCommand): Promise<{ readonly finding: Finding; readonly value: ConfigFile }> {
  const id = 'config';
  const value = { path: 'config.json', current: undefined, profiles: new Map(), raw: {} };
  try {
    const { config: folder } = context.host.folders;
    const config = context.config();
    // A login needs a home folder, although commands that need no profile work without.
    requireHome(folder);
    return { finding: { id, status: 'ok', observed: configPath(folder) }, value: config };
  } catch (error) {
    const reported = error instanceof DamagedConfigError ? await damagedConfig(error) : error;
    const [finding] = await attempt(id, () => Promise.reject(reported));
    if (finding === undefined) throw error;
    return { finding, value };
  }
}

/** A profile that CLOUDCTL_PROFILE or config.json names. One that an option names is an argument, so it is an error. */
function unknownProfile(settings: ProfileSettings, config: ConfigFile, typed: string | undefined): Finding | undefined {
  try {
    requireNamedProfile(settings, config, nearestWord);
    return undefined;
  } catch (error) {
    if (typed !== undefined || !(error instanceof CliError)) throw error;
    return failedFinding('profile', error);
  }
}

function environmentFindings({ host }: DoctorCommand, settings: ProfileSettings): readonly Finding[] {
  const { auth_url, base_url } = settings.values;
  const invalid = new Map<string, Finding>();
  const proxies = [...new Set([auth_url, base_url])].flatMap((origin) => {
    if (origin === undefined) return [];
    try {
      const proxy = proxyFor(new URL(origin), host.env);
      return proxy === undefined ? [] : [{ origin, proxy: proxy.displayUrl }];
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      invalid.set(error.message, failedFinding('proxy', error));
      return [];
    }
  });
  const hazard = unsafeVariable(host.env);
  return [...checkEnvironment(hazard, settings.accessToken !== undefined, proxies), ...invalid.values()];
}

async function probeCredentialStore(context: DoctorCommand, settings: ProfileSettings): Promise<Finding> {
  const { host, prompts, output } = context;
  const value = Buffer.from(host.random(16)).toString('hex');
  if (settings.values.credential_store === 'file') {
    const place = profilePaths(host.folders.state, settings.profileName);
    // Nothing is written to a folder that another user can change.
    if (isOfOthers(host.folders.state) || isOfOthers(place.folder))
      return { id: 'credential-file', status: 'skipped', observed: 'the state folder is not of this user alone' };
    return probeFolder(place, value);
  }
  return probeKeychain({
    keychain: host.keychain,
    fileStoreCommand: commandFor(settings.profile, 'config set credential_store file'),
    limit: prompts.interactive ? 60_000 : 3_000,
    onWaiting: () => {
      if (prompts.interactive) void output.show('waiting for the keychain to be unlocked');
    },
    account: `doctor#${Buffer.from(host.random(6)).toString('base64url')}`,
    value,
  });
}

/** Checks the client secret and the session; both checks are skipped if the credential store is not available. */
async function checkSession(
  context: DoctorCommand,
  settings: ProfileSettings,
  storeAnswers: boolean,
): Promise<readonly Finding[]> {
  const binding = findBinding(settings);
  if (binding === undefined) return [];
  if (!storeAnswers) {
    const skipped = { status: 'skipped', observed: 'the credential store is not available' } as const;
    return ['client-secret', 'session'].map((id) => ({ id, ...skipped }));
  }
  const client = await (await context.sessionRun(settings, binding)).client();
  const known =
    client.clientSecret === undefined ? 'missing' : settings.clientSecret === undefined ? 'stored' : 'variable';
  const secret =
    client.tokenParams !== 'query' && known === 'missing'
      ? ({
          id: 'client-secret',
          status: 'ok',
          observed: 'no client secret is stored; a public client needs none',
        } as const)
      : checkSecret(settings, known);
  const status = await readStatus(context, settings);
  return status === undefined ? [secret] : [secret, sessionFinding(status)];
}

function sessionFinding({ stored, state, isEnded, report, login }: SessionStatus): Finding {
  const id = 'session';
  if (stored.kind !== 'found') return { id, status: 'warning', observed: sessionStateText[stored.kind], hint: login };
  const end = report?.expires_at ?? null;
  const observed = `${state.replaceAll('_', ' ')}, ${end === null ? 'lifetime not known' : `until ${end}`}`;
  return isEnded ? { id, status: 'warning', observed, hint: login } : { id, status: 'ok', observed };
}

const sessionStateText = {
  absent: 'not logged in',
  damaged: 'the stored session is damaged or was written by a newer version',
  elsewhere: 'the session belongs to other servers than the profile',
  unavailable: 'the credential store is not available',
} as const;

function profileEndpoints(settings: ProfileSettings): readonly Endpoint[] {
  const check = commandFor(settings.profile, 'config get auth_url');
  return endpointPaths.flatMap(({ id, setting, path }) => {
    const origin = settings.values[setting];
    return origin === undefined ? [] : [{ id, origin, path, check, unreachable: unreachableHint(settings, setting) }];
  });
}

const endpointPaths = [
  { id: 'auth-url', setting: 'auth_url', path: '/v1/oauth/authorize' },
  { id: 'base-url', setting: 'base_url', path: '/v2/actions' },
] as const;

async function checkCallbackPorts({ values }: ProfileSettings): Promise<readonly Finding[]> {
  const callbacks = (values.callback_urls ?? []).map(parseCallback);
  return checkPorts(callbacks, await probePorts(callbacks));
}

function isOfOthers(folder: string): boolean {
  try {
    requireOwnFolder(folder);
    return false;
  } catch {
    return true;
  }
}
