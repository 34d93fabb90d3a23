import {
  buildFailedDoctorFinding,
  checkBrowser,
  checkBrowserPortReachability,
  checkClientSecretConfigured,
  checkEnvironmentVariables,
  checkLoginCallbackPorts,
  checkLoginProfile,
  checkStateFolder,
  checkTokenCommandProfile,
  checkTrust,
  checkUrlResponds,
  checkVariables,
  createDoctorReport,
  type DoctorEndpointToCheck,
  type DoctorFinding,
  probeCallbackPorts,
  probeCredentialFolder,
  probeKeychain,
  summarizeFindings,
} from '../auth/doctor/index.ts';
import { parseCallback } from '../auth/loopback/index.ts';
import { profilePaths, readStatus, type SessionStatus } from '../auth/session/index.ts';
import { CliError } from '../base/errors.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { ListView } from '../cli/columns.ts';
import type { CommandSpec } from '../cli/command.ts';
import { toCliError } from '../cli/error-output.ts';
import { wrapWords } from '../cli/wrap-words.ts';
import { type ConfigFile, configPath, DamagedConfigError } from '../config/config-file.ts';
import { createDamagedConfigError } from '../config/damaged-config-error.ts';
import {
  commandFor,
  findBinding,
  type ResolvedProfileSettings,
  requireNamedProfileExists,
  resolveProfileSettings,
} from '../config/settings.ts';
import { readGlobalSettingsFromOptions } from '../context/global-overrides.ts';
import type { CommandContext } from '../context.ts';
import { findOpener } from '../platform/browser.ts';
import { detectBrowserEnvironment } from '../platform/browser-environment.ts';
import { requireHome } from '../platform/folders.ts';
import { requireOwnFolder } from '../platform/own-folder.ts';
import { proxyFor } from '../platform/proxy.ts';
import { trustOf } from '../platform/trust.ts';
import { findUnsafeEnvironmentVariable } from '../platform/unsafe-environment-variable.ts';

const view: ListView<DoctorFinding> = {
  isReport: true,
  columns: [
    { name: 'Status', value: ({ status }) => status },
    { name: 'ID', value: ({ id }) => id },
    { name: 'Observed', value: ({ observed }) => observed },
    { name: 'Hint', value: ({ hint }) => hint },
  ],
};

export const doctorCommand: CommandSpec<CommandContext> = {
  description:
    'Checks the configuration, both servers and their clocks, every registered port, the browser, the credential store and the environment. Runs the program of `token_command`. Sends no secret. Changes nothing, but writes and removes a test item in the credential store. Exits with 1 if a login would fail.',
  examples: [
    { text: 'Find out why a login fails', command: 'cloudctl doctor' },
    {
      text: 'Print the failed checks in a script',
      command: 'cloudctl doctor -o json --query "findings[?status==\'failed\']"',
    },
  ],
  fields: ['ok', 'findings', 'status', 'id', 'observed', 'hint'],
  run: async (context) => {
    const findings: DoctorFinding[] = [];
    for await (const part of runChecks(context)) findings.push(...part);
    await context.progress.stop();
    const report = createDoctorReport(findings);
    const { output, globals } = context;
    const queried = globals.value('query') !== undefined;
    const picked = globals.values('format').length > 0;
    const aim = findings.some(({ id }) => id === 'token-command') ? 'requests' : 'a login';
    const summary = summarizeFindings(findings, aim);
    const { columns } = context.host.stdout;
    if (output.format === 'table' && !queried && !picked)
      await output.text(
        `${wrapWords(summary, columns ?? Number.POSITIVE_INFINITY, 0)}\n\n${findingLines(findings, columns)}`,
      );
    else {
      await output.note(summary);
      // Columns and CSV show the findings as rows; JSON and queries get the whole report.
      if (!queried && (picked || output.format === 'csv')) await output.list(findings, view);
      else await output.object(report, { columns: [{ name: 'Ok', value: ({ ok }) => ok }] });
    }
    return report.ok ? 0 : 1;
  },
};

/**
 * The findings of `cloudctl doctor` as text. The findings are not printed as a table, because a table would cut off the hints
 * at the width of the terminal; on a terminal, lines break between words.
 */
function findingLines(findings: readonly DoctorFinding[], columns: number | undefined): string {
  const indent = Math.max(...findings.map(({ id }) => id.length)) + 11;
  const wrap = (text: string): string =>
    wrapWords(' '.repeat(indent) + text, Math.max(columns ?? Number.POSITIVE_INFINITY, indent + 20), indent);
  return findings
    .flatMap(({ status, id, observed, hint }) => [
      `${status.padEnd(7)}  ${id.padEnd(indent - 9)}${wrap(sanitizeLine(observed)).slice(indent)}`,
      ...(hint === undefined ? [] : [wrap(`hint: ${sanitizeLine(hint, 1000)}`)]),
    ])
    .join('\n');
}

async function* runChecks(context: CommandContext): AsyncGenerator<readonly DoctorFinding[]> {
  const { host, progress } = context;
  const overrides = readGlobalSettingsFromOptions(context.globals);
  const config = await readConfig(context);
  const variables = checkVariables(host.env, overrides);
  yield [config.finding, ...variables.findings];
  // Wrong arguments of `cloudctl doctor` are reported as errors, as for every command.
  const profile = context.globals.value('profile');
  const settings = resolveProfileSettings({ env: variables.valid, config: config.value, profile, overrides });
  const runtime = detectBrowserEnvironment(host.env, host.platform);
  const stateFolder = () => [
    checkStateFolder(host.folders.state, profilePaths(host.folders.state, settings.profileName)),
  ];
  const hasTokenCommand = settings.values.token_command !== undefined;
  const unknown = config.finding.status === 'ok' ? unknownProfile(settings, config.value, profile) : undefined;
  if (unknown !== undefined) yield [unknown];
  else if (config.finding.status !== 'ok')
    yield [{ id: 'profile', status: 'skipped', observed: 'config.json was not read' }];
  else yield [hasTokenCommand ? checkTokenCommandProfile(settings) : checkLoginProfile(settings)];
  yield checkEnvironment(context, settings);
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
  yield [checkBrowserPortReachability(facts), checkBrowser(facts)];
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

type DoctorFindings = Promise<readonly DoctorFinding[]> | readonly DoctorFinding[];

/** A check that throws is a failed check: the other checks may show why. An error of the program itself is still an error. */
async function attempt(id: string, check: () => DoctorFindings): Promise<readonly DoctorFinding[]> {
  try {
    return await check();
  } catch (thrown) {
    const error = toCliError(thrown);
    if (error.code === 'cancelled' || error.code === 'internal') throw thrown;
    return [buildFailedDoctorFinding(id, error)];
  }
}

async function* checkEndpoints(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): AsyncGenerator<readonly DoctorFinding[]> {
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
      checkUrlResponds(endpoint, {
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
async function runTokenCommand(context: CommandContext, settings: ResolvedProfileSettings): Promise<DoctorFinding> {
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
    return buildFailedDoctorFinding(id, error);
  }
}

/** A damaged config.json counts as empty for the other checks. */
async function readConfig(
  context: CommandContext,
): Promise<{ readonly finding: DoctorFinding; readonly value: ConfigFile }> {
  const id = 'config';
  const value = { path: 'config.json', current: undefined, profiles: new Map(), raw: {} };
  try {
    const { config: folder } = context.host.folders;
    const config = context.config();
    // A login needs a home folder, although commands that need no profile work without.
    requireHome(folder);
    return { finding: { id, status: 'ok', observed: configPath(folder) }, value: config };
  } catch (error) {
    const reported = error instanceof DamagedConfigError ? await createDamagedConfigError(error) : error;
    const [finding] = await attempt(id, () => Promise.reject(reported));
    if (finding === undefined) throw error;
    return { finding, value };
  }
}

/** A profile that CLOUDCTL_PROFILE or config.json names. One that an option names is an argument, so it is an error. */
function unknownProfile(
  settings: ResolvedProfileSettings,
  config: ConfigFile,
  typed: string | undefined,
): DoctorFinding | undefined {
  try {
    requireNamedProfileExists(settings, config);
    return undefined;
  } catch (error) {
    if (typed !== undefined || !(error instanceof CliError)) throw error;
    return buildFailedDoctorFinding('profile', error);
  }
}

function checkEnvironment({ host }: CommandContext, settings: ResolvedProfileSettings): readonly DoctorFinding[] {
  const { auth_url, base_url } = settings.values;
  const invalid = new Map<string, DoctorFinding>();
  const proxies = [...new Set([auth_url, base_url])].flatMap((origin) => {
    if (origin === undefined) return [];
    try {
      const proxy = proxyFor(new URL(origin), host.env);
      return proxy === undefined ? [] : [{ origin, proxy: proxy.displayUrl }];
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      invalid.set(error.message, buildFailedDoctorFinding('proxy', error));
      return [];
    }
  });
  const hazard = findUnsafeEnvironmentVariable(host.env);
  return [...checkEnvironmentVariables(hazard, settings.accessToken !== undefined, proxies), ...invalid.values()];
}

async function probeCredentialStore(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): Promise<DoctorFinding> {
  const { host, prompts, output } = context;
  const value = Buffer.from(host.random(16)).toString('hex');
  if (settings.values.credential_store === 'file') {
    const place = profilePaths(host.folders.state, settings.profileName);
    // Nothing is written to a folder that another user can change.
    if (isOfOthers(host.folders.state) || isOfOthers(place.folder))
      return { id: 'credential-file', status: 'skipped', observed: 'the state folder is not of this user alone' };
    return probeCredentialFolder(place, value);
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
  context: CommandContext,
  settings: ResolvedProfileSettings,
  storeAnswers: boolean,
): Promise<readonly DoctorFinding[]> {
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
      : checkClientSecretConfigured(settings, known);
  const status = await readStatus(context, settings);
  return status === undefined ? [secret] : [secret, sessionFinding(status)];
}

function sessionFinding({ stored, state, isEnded, report, login }: SessionStatus): DoctorFinding {
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

function profileEndpoints({ values }: ResolvedProfileSettings): readonly DoctorEndpointToCheck[] {
  const auth = values.auth_url;
  const base = values.base_url;
  return [
    ...(auth === undefined ? [] : [{ id: 'auth-url', origin: auth, path: '/v1/oauth/authorize' } as const]),
    ...(base === undefined ? [] : [{ id: 'base-url', origin: base, path: '/v2/actions' } as const]),
  ];
}

async function checkCallbackPorts({ values }: ResolvedProfileSettings): Promise<readonly DoctorFinding[]> {
  const callbacks = (values.callback_urls ?? []).map(parseCallback);
  return checkLoginCallbackPorts(callbacks, await probeCallbackPorts(callbacks));
}

function isOfOthers(folder: string): boolean {
  try {
    requireOwnFolder(folder);
    return false;
  } catch {
    return true;
  }
}
