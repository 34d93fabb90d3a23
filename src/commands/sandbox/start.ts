import type { CommandSpec, Words } from '../../cli/command.ts';
import { wholeNumber } from '../../cli/number.ts';
import { writeProfile } from '../../config/file.ts';
import { parseCallbackUrl } from '../../config/origins.ts';
import { forgetSandboxPlace, writeSandboxPlace } from '../../config/sandbox.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CliError, usage } from '../../errors.ts';
import type { Environment } from '../../platform/host.ts';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { StateError } from '../../sandbox/state/state-error.ts';
import { Secret } from '../../secret.ts';
import { writeClientSecret } from '../../session/client-secret.ts';
import { readStored } from '../../session/current.ts';
import { exposed, readClusters } from './clusters.ts';
import { scriptConsent } from './consent.ts';
import { forgetEnded } from './forget-ended.ts';

type Ready = Sandbox['ready'];

export const start: CommandSpec<Context> = {
  summary: 'start the sandbox',
  description:
    'Runs the authorization server, the resource API and the control panel in this process, on the loopback interface, until Ctrl-C. It writes a profile `sandbox`, so that `cloudctl --profile sandbox auth login` works at once. With `-o json` the first line of standard output is one JSON object with every address and secret.',
  options: [
    { name: 'port', value: 'PORT', description: 'of the authorization server; 0 is any free port (0)' },
    { name: 'api-port', value: 'PORT', description: 'of the resource API; 0 is any free port (0)' },
    { name: 'host', value: 'HOST', description: 'a loopback address (127.0.0.1)' },
    {
      name: 'callback-url',
      value: 'URL',
      many: 'repeat',
      description: 'a callback URL to register, instead of one on a free port',
    },
    { name: 'app', value: 'NAME=URL', many: 'repeat', description: 'register one more application' },
    { name: 'seed', value: 'N', description: 'the same ids and secrets at every start' },
    {
      name: 'state',
      value: 'DIR',
      description: 'keep everything in this folder, so that the next start goes on, after a crash as well (memory)',
      completes: 'folder',
    },
    {
      name: 'consent',
      value: 'SCRIPT',
      description: '"approve EMAIL", "approve EMAIL TEAM", deny or ask: answers the consent page by itself (ask)',
    },
    {
      name: 'cluster',
      value: 'NAME=URL',
      many: 'repeat',
      description: 'a server (postgres://, redis://) that migrations into this cluster really fill',
    },
    { name: 'finish-when-idle', description: 'such a migration ends when nothing was left to replicate for 60 s' },
    { name: 'rate-limit', value: 'LIMITS', description: 'enforce limits on the virtual clock, as in 5000/h,250/m' },
    { name: 'droplet-limit', value: 'N', description: 'refuse more droplets than this' },
    { name: 'revoke-on-replay', description: 'a code that is used twice kills the tokens of its first use' },
    {
      name: 'unknown-token-status',
      value: 'STATUS',
      description: 'how an unknown access token is answered: 404 or 401 (404)',
      choices: ['404', '401'],
    },
    { name: 'no-profile', description: 'do not write the profile `sandbox`' },
  ],
  examples: [
    { text: 'Try everything without an account', command: 'cloudctl sandbox start' },
    {
      text: 'In CI: no pages, any port, machine-readable',
      command: 'cloudctl sandbox start -o json --consent "approve maya@example.com" &',
    },
    {
      text: 'Keep people, tokens and droplets from one day to the next',
      command: 'cloudctl sandbox start --state DIR',
    },
  ],
  run: async (context, words) => {
    const sandbox = await open(words, context.host.env);
    const warning = exposed(words);
    if (warning !== undefined) await context.output.warn(warning);
    const { ready } = sandbox;
    const { host, output } = context;
    let deaf = (): void => {};
    const stopped = new Promise<void>((resolve) => {
      deaf = host.signals.listen(() => {
        deaf();
        resolve();
      });
    });
    try {
      const consent = words.text('consent');
      if (consent !== undefined) await scriptConsent(await context.send(), ready, consent);
      writeSandboxPlace(host.folders.state, ready);
      if (!words.flag('no-profile')) await writeSandboxProfile(context, ready);
      await output.text(
        output.format === 'json' || output.format === 'ndjson' ? JSON.stringify(ready) : welcome(ready),
      );
      if (sandbox.notice !== undefined) await output.warn(sandbox.notice);
      await output.note('The sandbox runs until Ctrl-C.');
      const failure = await Promise.race([stopped, sandbox.failure]);
      if (failure !== undefined) throw notSaved(failure, words.text('state'));
      return 0;
    } finally {
      deaf();
      // Before anything that can fail: with its ports open the program would never end.
      await sandbox.close();
      forgetSandboxPlace(host.folders.state, ready);
      await forgetEnded(context);
    }
  },
};

async function open(words: Words, env: Environment): Promise<Sandbox> {
  const number = (name: string, max: number): number | undefined => {
    const text = words.text(name);
    return text === undefined ? undefined : wholeNumber(text, `--${name}`, { min: 0, max });
  };
  const [port, apiPort, seed, dropletLimit] = [
    number('port', 65_535),
    number('api-port', 65_535),
    number('seed', 2 ** 31 - 1),
    number('droplet-limit', 1_000_000),
  ];
  const host = words.text('host');
  const rateLimit = words.text('rate-limit');
  const callbackUrls = words.list('callback-url');
  const state = words.text('state');
  try {
    return await startSandbox({
      ...(port === undefined ? {} : { port }),
      ...(apiPort === undefined ? {} : { apiPort }),
      ...(host === undefined ? {} : { host }),
      ...(seed === undefined ? {} : { seed }),
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(state === undefined ? {} : { state }),
      ...(dropletLimit === undefined ? {} : { dropletLimit }),
      ...(callbackUrls.length === 0 ? {} : { callbackUrls }),
      clusters: readClusters(words, env),
      env,
      finishWhenIdle: words.flag('finish-when-idle'),
      apps: words.list('app').map(application),
      revokeOnReplay: words.flag('revoke-on-replay'),
      unknownTokenStatus: words.text('unknown-token-status') === '401' ? 401 : 404,
    });
  } catch (error) {
    throw startError(error, state);
  }
}

function application(text: string): { readonly name: string; readonly callbackUrl: string } {
  const at = text.indexOf('=');
  if (at < 1) throw usage('--app is not NAME=URL', 'as in `--app "My tool=http://127.0.0.1:9000/callback"`');
  return { name: text.slice(0, at), callbackUrl: text.slice(at + 1) };
}

function startError(error: unknown, state: string | undefined): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof StateError) return stateError(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const port = 'port' in error ? ` ${error.port}` : '';
    return new CliError(
      'port_in_use',
      `could not listen on port${port}: it is ${code === 'EACCES' ? 'reserved' : 'in use'}`,
      {
        hint:
          state === undefined
            ? 'choose others with `--port` and `--api-port`, or leave them out for free ones'
            : 'end what listens there, or choose others with `--port` and `--api-port`; 0 is any free port',
      },
    );
  }
  return error instanceof CliError
    ? error
    : usage(`could not start the sandbox: ${error.message}`, 'see `cloudctl sandbox start --help`');
}

function stateError({ reason, message, detail, hint }: StateError): CliError {
  const code = reason === 'busy' ? 'busy' : reason === 'damaged' ? 'config_invalid' : 'usage';
  return new CliError(code, message, { detail, hint });
}

function notSaved(failure: Error, state: string | undefined): CliError {
  return new CliError('internal', `could not save the state of the sandbox: ${failure.message}`, {
    detail: `what was answered until now is safe in ${state}; the sandbox has ended`,
    hint: 'make room on the disk and start it again',
    cause: failure,
  });
}

/** A profile in the file store, so that no keychain is needed; a session of an earlier sandbox is of no use any more. */
async function writeSandboxProfile(context: Context, ready: Ready): Promise<void> {
  const binding = { authOrigin: ready.auth_url, baseOrigin: ready.base_url, clientId: ready.client_id };
  const values = {
    auth_url: ready.auth_url,
    base_url: ready.base_url,
    client_id: ready.client_id,
    // One of another machine or scheme can be registered, but a login of ours cannot be received there.
    ...(parseCallbackUrl(ready.callback_url).ok ? { callback_urls: [ready.callback_url] } : {}),
    credential_store: 'file',
  } as const;
  const settings: Settings = {
    profileName: 'sandbox',
    profileKnown: true,
    profileNamed: true,
    values,
    clientSecret: undefined,
    accessToken: undefined,
  };
  const store = context.store(settings);
  const lock = await context.lock(context.place('sandbox').lock);
  try {
    await store.visit(async (items) => {
      const stored = await readStored(store, items, binding);
      if (stored.kind === 'elsewhere' || stored.kind === 'damaged') await items.remove('credential');
    });
  } finally {
    lock.release();
  }
  await writeClientSecret(store, binding, new Secret(ready.client_secret));
  await context.changeConfig((config) => writeProfile(context.host.folders.config, config, 'sandbox', values));
}

function welcome(ready: Ready): string {
  const people = ready.users.map(
    ({ email, password, teams }) =>
      `  ${email}  password ${password}${teams.length === 0 ? '' : `  team ${teams.map((team) => team.name).join(', ')}`}`,
  );
  const clusters = ready.clusters.map(({ name, engine, version, uuid }) => `  ${name}  ${engine} ${version}  ${uuid}`);
  return [
    `Authorization server  ${ready.auth_url}`,
    `Resource API          ${ready.base_url}`,
    `Control panel         ${ready.panel_url}`,
    `Client ID             ${ready.client_id}`,
    `Callback URL          ${ready.callback_url}`,
    'People',
    ...people,
    'Database clusters',
    ...clusters,
    'Try, in another terminal',
    '  cloudctl --profile sandbox auth login --scope "read write"',
    '  cloudctl --profile sandbox droplets list',
  ].join('\n');
}
