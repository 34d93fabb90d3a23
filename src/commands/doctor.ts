import type { ListView } from '../cli/columns.ts';
import type { CommandSpec } from '../cli/command.ts';
import { clean } from '../cli/sanitize.ts';
import { explainDamage } from '../config/damage.ts';
import { DamagedConfig } from '../config/file.ts';
import { requireProfile, type Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { bindAll } from '../doctor/bind.ts';
import { judgeClientSecret, judgeProfile } from '../doctor/configuration.ts';
import { askEndpoint, type Endpoint } from '../doctor/endpoint.ts';
import { type DoctorFinding, reportOf } from '../doctor/finding.ts';
import { judgePorts } from '../doctor/ports.ts';
import { probeFolder, probeKeychain } from '../doctor/store.ts';
import { judgeBrowser, judgeEnvironment, judgeSurroundings } from '../doctor/surroundings.ts';
import { CliError } from '../errors.ts';
import { parseCallbackUrl } from '../loopback/callback-url.ts';
import { hasOpener } from '../platform/browser.ts';
import { surroundings } from '../platform/environment.ts';
import { tryAcquire } from '../platform/lock.ts';
import { proxyFor } from '../platform/proxy.ts';
import { tokenCallHazard } from '../platform/unsafe-environment.ts';
import { readAccount } from '../session/account.ts';
import { commandFor, flowAgain } from '../session/command-for.ts';
import { loginCommand, readOnce } from '../session/current.ts';
import { stateOf } from '../session/status.ts';
import { bindingOf } from '../session/wiring.ts';

const view: ListView<DoctorFinding> = {
  columns: [
    { name: 'Status', value: ({ status }) => status },
    { name: 'ID', value: ({ id }) => id },
    { name: 'Observed', value: ({ observed }) => observed },
    { name: 'Hint', value: ({ hint }) => hint },
  ],
};

export const doctor: CommandSpec<Context> = {
  summary: 'look for what would stop a login on this machine',
  description:
    'Checks the configuration, both servers and their clocks, every registered port, the browser, the credential store and the environment. Nothing secret is sent and nothing is changed but an item of its own in the credential store, written and removed. Exit 1 when something would stop a login.',
  examples: [
    { text: 'Why does the login not work?', command: 'cloudctl doctor' },
    { text: 'What failed, in a script', command: 'cloudctl doctor -o json --query "findings[?status==\'failed\']"' },
  ],
  run: async (context) => {
    const findings: DoctorFinding[] = [];
    for await (const part of examine(context)) findings.push(...part);
    await context.progress.stop();
    const report = reportOf(findings);
    const { output, globals } = context;
    const queried = globals.text('query') !== undefined;
    const picked = globals.list('format').length > 0;
    if (output.format === 'table' && !queried && !picked) await output.text(linesOf(findings));
    // Columns are those of a finding; the report itself is the object that scripts read and query.
    else if (!queried && (picked || output.format === 'csv')) await output.list(findings, view);
    else await output.object(report, { columns: [{ name: 'Ok', value: ({ ok }) => ok }] });
    const failed = findings.filter(({ status }) => status === 'failed');
    if (report.ok) await output.note('Nothing found that would stop a login.');
    else await output.note(`${failed.length} would stop a login: ${failed.map(({ id }) => id).join(', ')}.`);
    return report.ok ? 0 : 1;
  },
};

/** For a person: a table would cut the hint off at the edge of the terminal. */
function linesOf(findings: readonly DoctorFinding[]): string {
  const width = Math.max(...findings.map(({ id }) => id.length));
  return findings
    .flatMap(({ status, id, observed, hint }) => [
      `${status.padEnd(7)}  ${id.padEnd(width)}  ${clean(observed)}`,
      ...(hint === undefined ? [] : [`${' '.repeat(width + 11)}hint: ${hint}`]),
    ])
    .join('\n');
}

async function* examine(context: Context): AsyncGenerator<readonly DoctorFinding[]> {
  const { host, progress } = context;
  const settings = await settingsOf(context);
  yield [settings.finding];
  if (settings.value === undefined) return;
  const { value } = settings;
  yield [judgeProfile(value)];
  const around = surroundings(host.env, host.platform);
  yield environment(context, value);
  const seat = {
    surroundings: around,
    terminal: host.stderr.isTTY,
    browser: host.env.BROWSER,
    opener: hasOpener(host.env, host.platform),
    profile: value.profileName,
  };
  yield [judgeSurroundings(seat), judgeBrowser(seat)];
  yield [stateFolder(context, value)];
  await progress.show('asking the credential store');
  const store = await probeStore(context, value);
  yield [store];
  yield await session(context, value, store.status === 'ok');
  for (const endpoint of endpointsOf(value)) {
    await progress.show(`asking ${endpoint.origin}`);
    yield await askEndpoint(endpoint, {
      send: await context.send({ fresh: true }),
      now: () => host.clock.now(),
      timeout: context.timeout,
    });
  }
  yield await ports(value);
}

/** Everything else is judged by the settings, so a file that cannot be read ends the examination, not the program. */
async function settingsOf(
  context: Context,
): Promise<{ readonly finding: DoctorFinding; readonly value: Settings | undefined }> {
  const id = 'config';
  try {
    const config = context.config();
    const value = context.settings();
    requireProfile(value, config);
    return { finding: { id, status: 'ok', observed: config.path }, value };
  } catch (error) {
    const told = error instanceof DamagedConfig ? await explainDamage(error) : error;
    // Wrong words are the person's to mend first, as with every command.
    if (!(told instanceof CliError) || told.code !== 'config_invalid') throw told;
    return { finding: findingOf(id, told), value: undefined };
  }
}

function environment({ host }: Context, settings: Settings): readonly DoctorFinding[] {
  const origins = [settings.values.auth_url, settings.values.base_url].filter((origin) => origin !== undefined);
  try {
    const proxies = [...new Set(origins)].flatMap((origin) => {
      const proxy = proxyFor(new URL(origin), host.env);
      return proxy === undefined ? [] : [{ origin, proxy: proxy.shown }];
    });
    return judgeEnvironment(tokenCallHazard(host.env), settings.accessToken !== undefined, proxies);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [
      ...judgeEnvironment(tokenCallHazard(host.env), settings.accessToken !== undefined, []),
      findingOf('proxy', error),
    ];
  }
}

/** The lock that a refresh needs: the file system must know locks, and the folder must be ours. */
function stateFolder(context: Context, settings: Settings): DoctorFinding {
  const id = 'state-folder';
  const place = context.place(settings.profileName);
  try {
    const held = tryAcquire(place.lock);
    held?.release();
    const now = held === undefined ? '; another process of cloudctl holds one now' : '';
    return { id, status: 'ok', observed: `${place.folder}: locks work${now}` };
  } catch (error) {
    if (error instanceof CliError) return findingOf(id, error);
    const reason = error instanceof Error ? error.message : String(error);
    return { id, status: 'failed', observed: reason, hint: 'name a folder that is yours in CLOUDCTL_STATE_DIR' };
  }
}

async function probeStore(context: Context, settings: Settings): Promise<DoctorFinding> {
  const { host, prompts, output } = context;
  const value = Buffer.from(host.random(16)).toString('hex');
  const { folder } = context.place(settings.profileName);
  if (settings.values.credential_store === 'file') return probeFolder(folder, value);
  return probeKeychain({
    keychain: host.keychain,
    toFile: commandFor(settings.profileName, 'config set credential_store file'),
    limit: prompts.interactive ? 60_000 : 3_000,
    onWaiting: () => {
      if (prompts.interactive) void output.show('waiting for the keychain to be unlocked');
    },
    account: `doctor#${Buffer.from(host.random(6)).toString('base64url')}`,
    value,
  });
}

/** Who is logged in, and whether the application's secret is at hand; neither is asked for where the store does not answer. */
async function session(context: Context, settings: Settings, storeAnswers: boolean): Promise<readonly DoctorFinding[]> {
  const binding = bindingOf(settings);
  if (binding === undefined) return [];
  const flow = flowAgain(readAccount(context.host.folders.config, settings.profileName)?.flow, settings.values.flow);
  const hint = loginCommand(settings.profileName, undefined, flow);
  if (!storeAnswers) {
    const skipped = { status: 'skipped', observed: 'the credential store does not answer' } as const;
    return ['client-secret', 'session'].map((id) => ({ id, ...skipped }));
  }
  const client = await context.client(settings, binding);
  const known =
    client.clientSecret === undefined ? 'missing' : settings.clientSecret === undefined ? 'stored' : 'variable';
  const secret =
    client.tokenParams !== 'query' && known === 'missing'
      ? ({ id: 'client-secret', status: 'ok', observed: 'there is none; a public client needs none' } as const)
      : judgeClientSecret(settings, known);
  const stored = await readOnce(context.store(settings), binding);
  if (stored.kind !== 'found')
    return [secret, { id: 'session', status: 'warning', observed: stateWords[stored.kind], hint }];
  const state = stateOf(stored.record, context.host.clock.now());
  const until = `${state.replaceAll('_', ' ')}, until ${new Date(stored.record.expiresAt * 1000).toISOString()}`;
  if (state === 'needs_login') {
    const again = loginCommand(settings.profileName, stored.record.scope, flow);
    return [secret, { id: 'session', status: 'warning', observed: until, hint: again }];
  }
  return [secret, { id: 'session', status: 'ok', observed: until }];
}

const stateWords = {
  absent: 'not logged in',
  damaged: 'the stored session is damaged or of a newer version',
  elsewhere: 'logged in to other servers than the profile names',
  unavailable: 'the credential store does not answer',
} as const;

function endpointsOf({ values }: Settings): readonly Endpoint[] {
  const auth = values.auth_url;
  const base = values.base_url;
  return [
    ...(auth === undefined ? [] : [{ id: 'auth-url', origin: auth, path: '/v1/oauth/authorize' } as const]),
    ...(base === undefined ? [] : [{ id: 'base-url', origin: base, path: '/v2/actions' } as const]),
  ];
}

async function ports({ values }: Settings): Promise<readonly DoctorFinding[]> {
  try {
    const callbacks = (values.callback_urls ?? []).map(parseCallbackUrl);
    return judgePorts(callbacks, await bindAll(callbacks));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [findingOf('callback-urls', error)];
  }
}

function findingOf(id: string, { message, detail, hint }: CliError): DoctorFinding {
  const observed = clean(detail === undefined ? message : `${message}: ${detail}`);
  return { id, status: 'failed', observed, ...(hint === undefined ? {} : { hint }) };
}
