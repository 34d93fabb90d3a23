import { resolve } from 'node:path';
import { CliError, usageError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { storageError } from '../../base/storage-error.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { wrapForTerminal } from '../../cli/text.ts';
import { forgetSandbox, placeOf, type SandboxPlace } from '../../config/sandboxes.ts';
import { parseCallbackUrl, parseOrigin } from '../../config/urls.ts';
import type { CommandContext } from '../../context.ts';
import { SandboxDataError } from '../../sandbox/data-types.ts';
import { type SandboxServers, type ServerOptions, startServers } from '../../sandbox/sandbox.ts';
import { SandboxStateFolderError } from '../../sandbox/state/journal.ts';
import { forgetEnded, recordStart, returnProfile, takeProfile } from './record.ts';
import { certificateWarning, dataError, isOwnRoot, listenOptions, startOptions } from './start-options.ts';

type SandboxReady = SandboxServers['ready'];

export const sandboxStart: CommandSpec<CommandContext> = {
  description:
    'Runs the authorization server, the resource API and the control panel on the loopback interface until Ctrl-C. Writes the profile `sandbox`, so that `cloudctl --profile sandbox auth login` works at once. With `-o json` the first line of standard output is one JSON object with every URL and secret.',
  options: [
    ...listenOptions,
    {
      name: 'callback-url',
      valueName: 'URL',
      multiple: 'repeat',
      description: 'further callback URL of the first application (default: one on a free port)',
    },
    {
      name: 'app',
      valueName: 'NAME=URL',
      multiple: 'repeat',
      description: 'application to register, or a further callback URL of it',
    },
    {
      name: 'user',
      valueName: 'EMAIL',
      multiple: 'repeat',
      description: 'additional user, with a generated password',
    },
    {
      name: 'data',
      valueName: 'FILE',
      description: 'own users, teams, applications, droplets, clusters and clock (JSON; - is standard input)',
      completion: 'file',
    },
    { name: 'seed', valueName: 'N', description: 'seed of ids and secrets, which makes them the same at every start' },
    {
      name: 'state',
      valueName: 'DIR',
      description: 'folder that keeps the state between starts, also after a crash (default: in memory)',
      completion: 'folder',
    },
    {
      name: 'consent',
      valueName: 'SCRIPT',
      description: 'answer of the consent page: "approve EMAIL", "approve EMAIL TEAM", deny or ask (default: ask)',
      completion: ['ask', 'deny', 'approve maya@example.com', 'approve tomas@example.com'],
    },
    {
      name: 'cluster',
      valueName: 'NAME=URL',
      multiple: 'repeat',
      description: 'database server (postgres://, redis://) that migrations into this cluster copy data to',
    },
    { name: 'allow-superuser-objects', description: 'let migrations create objects that need a superuser' },
    { name: 'finish-when-idle', description: 'end a migration into --cluster after 60 s without changes to replicate' },
    {
      name: 'rate-limit',
      valueName: 'LIMITS',
      description: 'rate limits to report and enforce, on the virtual clock, such as 5000/h,250/m (default: none)',
    },
    { name: 'droplet-limit', valueName: 'N', description: 'maximum number of droplets' },
    { name: 'revoke-on-replay', description: 'revoke the tokens of an authorization code that is used twice' },
    {
      name: 'unknown-token-status',
      valueName: 'STATUS',
      description: 'response status to an unknown access token: 404 or 401 (default: 404)',
      choices: ['404', '401'],
    },
    { name: 'no-profile', description: 'do not write the profile `sandbox`' },
  ],
  examples: [
    { text: 'Try everything without an account', command: 'cloudctl sandbox start' },
    {
      text: 'Run in CI: no pages, any port, JSON output',
      command: 'cloudctl sandbox start -o json --consent "approve maya@example.com" &',
    },
    { text: 'Start with your own users and droplets', command: 'cloudctl sandbox start --data data.json' },
    { text: 'Keep users, tokens and droplets between starts', command: 'cloudctl sandbox start --state DIR' },
  ],
  run: async (context, args) => {
    const { host, output } = context;
    const { options, warnings } = await startOptions(context, args);
    const sandbox = await startServers(options).catch((error: unknown) => {
      throw error instanceof SandboxDataError
        ? dataError(args.value('data'), error.message)
        : startError(error, options);
    });
    for (const warning of warnings) await output.warn(warning);
    const { ready } = sandbox;
    const mismatch = options.tls === undefined ? undefined : certificateWarning(options.tls, ready.auth_url);
    if (mismatch !== undefined) await output.warn(mismatch);
    // Commands on this machine reach the admin API without resolving the public name.
    const place = placeOf({ ...ready, admin_url: sandbox.localAdminUrl });
    const hasProfile = !args.has('no-profile') && parseOrigin(ready.auth_url).ok;
    let isRecorded = false;
    let earlier: Awaited<ReturnType<typeof takeProfile>>;
    let deaf = (): void => {};
    const stopped = new Promise<void>((end) => {
      deaf = host.signals.listen(() => {
        deaf();
        end();
      });
    });
    try {
      const consent = args.value('consent');
      if (consent !== undefined) setConsent(sandbox, consent);
      if (hasProfile) earlier = await takeProfile(context, place);
      if (hasProfile && place.callback_url === undefined) await output.warn(callbackWarning(ready));
      isRecorded = recordStart(context, place, !hasProfile);
      const { isTTY, columns } = host.stdout;
      const certificate = options.tls !== undefined && isOwnRoot(options.tls) ? args.value('tls-cert') : undefined;
      const trust = certificate === undefined ? '' : `SSL_CERT_FILE=${quoteShellArg(resolve(certificate))} `;
      const program = `${trust}cloudctl`;
      await output.text(
        output.format === 'json' || output.format === 'ndjson'
          ? JSON.stringify(ready)
          : await wrapForTerminal(
              startText(
                ready,
                hasProfile || options.publicName === undefined ? tryCommands(ready, place, program, hasProfile) : [],
                options,
              ),
              isTTY ? columns : undefined,
            ),
      );
      if (sandbox.notice !== undefined) await output.warn(sandbox.notice);
      await output.note('The sandbox runs until Ctrl-C.');
      const failure = await Promise.race([stopped, sandbox.failure]);
      if (failure !== undefined) throw unsavedStateError(failure, options.state);
      return 0;
    } finally {
      deaf();
      // The sandbox is closed first, because its open ports would keep the process running if a later step failed.
      await sandbox.close();
      if (isRecorded) {
        forgetSandbox(host.folders.state, place);
        await forgetEnded(context);
      }
      if (earlier !== undefined) await returnProfile(context, place, earlier);
    }
  },
};

/** Sets how the consent page responds, also after a reset: `approve EMAIL [TEAM]`, `deny` or `ask`. */
function setConsent(sandbox: SandboxServers, script: string): void {
  const [mode = '', user, ...words] = script.trim().split(/\s+/);
  const team = words.join(' ');
  const members = { mode, lasting: true, ...(user === undefined ? {} : { user }), ...(team === '' ? {} : { team }) };
  const problem = sandbox.setConsent(new Map(Object.entries(members)));
  if (problem === undefined) return;
  throw usageError(
    '--consent is not a valid consent script',
    `use a form such as \`--consent ${quoteShellArg(`approve ${sandbox.ready.users[0]?.email ?? 'EMAIL'}`)}\`; \`cloudctl sandbox start\` prints the users`,
    problem,
  );
}

function startError(error: unknown, { state }: ServerOptions): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof SandboxStateFolderError) return stateError(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const port = 'port' in error ? ` ${error.port}` : '';
    return new CliError(
      'port_in_use',
      `could not listen on port${port}: the port is ${code === 'EACCES' ? 'reserved' : 'in use'}`,
      {
        hint:
          state === undefined
            ? 'pass other ports with `--port` and `--api-port`, or remove the options to use free ports'
            : 'stop the program that uses the port, or pass other ports with `--port` and `--api-port`; 0 is any free port',
      },
    );
  }
  return error instanceof CliError
    ? error
    : usageError(`could not start the sandbox: ${error.message}`, 'see `cloudctl sandbox start --help`');
}

function stateError({ reason, message, detail, hint }: SandboxStateFolderError): CliError {
  const code = reason === 'busy' ? 'busy' : reason === 'damaged' ? 'config_invalid' : 'usage';
  return new CliError(code, message, { detail, hint });
}

function unsavedStateError(failure: Error, state: string | undefined): CliError {
  return storageError(`could not save the state of the sandbox: ${failure.message}`, failure, {
    detail: `all changes before the failed write are saved in ${state}; the sandbox has stopped`,
    elsewhere: 'move the state to a folder that you can write to, and start the sandbox again',
  });
}

/** Rows whose cells begin at the same columns. */
function alignCells(rows: readonly (readonly string[])[]): readonly string[] {
  const widthOf = (column: number): number => rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0);
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widthOf(column)))
      .join('  ')
      .trimEnd(),
  );
}

/** A sandbox accepts a callback URL of any machine, for the application that is tested; a login of this program does not. */
function callbackWarning({ callback_url: url }: SandboxReady): string {
  const parsed = parseCallbackUrl(url);
  return `the profile "sandbox" has no callback URL, so that it cannot be used for a login: ${url} is ${parsed.ok ? '' : parsed.reason}`;
}

/** @param program how another terminal calls this program, so that it trusts the sandbox */
function tryCommands(
  { users }: SandboxReady,
  { callback_url: callbackUrl }: SandboxPlace,
  program: string,
  hasProfile: boolean,
): readonly string[] {
  const use = hasProfile ? `${program} --profile sandbox` : program;
  const login =
    callbackUrl === undefined
      ? `${program} sandbox token --user ${quoteShellArg(users[0]?.email ?? '')} --scope 'read write' | ${use} auth login --with-token`
      : `${use} auth login`;
  return [
    callbackUrl === undefined
      ? 'Try in another terminal, with a token: no callback URL of the first application can be received here'
      : 'Try in another terminal',
    ...(hasProfile ? [] : [`  eval "$(${program} sandbox env)"`]),
    `  ${login}`,
    `  ${use} droplets list`,
    `  ${use} db list`,
  ];
}

function startText(ready: SandboxReady, commands: readonly string[], { publicName }: ServerOptions): string {
  const people = ready.users.map(({ email, password, teams }) => [
    `  ${email}`,
    `password ${password}`,
    ...(teams.length === 0 ? [] : [`team ${sanitizeLine(teams.map(({ name }) => name).join(', '))}`]),
  ]);
  const teams = new Map(ready.users.flatMap((user) => user.teams.map((team) => [team.uuid, team.name])));
  const emails = new Map(ready.users.map(({ uuid, email }) => [uuid, email]));
  const ownerOf = (owner: string): string => emails.get(owner) ?? sanitizeLine(teams.get(owner) ?? owner);
  const owners = [...new Set(ready.clusters.map(({ owner }) => ownerOf(owner)))];
  const clusters = ready.clusters.map(({ name, engine, version, uuid, owner }) => [
    `  ${name}`,
    uuid,
    `${engine} ${version}`,
    ...(owners.length > 1 ? [ownerOf(owner)] : []),
  ]);
  const applications = ready.applications.flatMap(({ name, client_id, client_secret, callback_urls }) => [
    `  ${sanitizeLine(name)}`,
    `    Client ID         ${client_id}`,
    `    Client secret     ${client_secret}`,
    ...callback_urls.map((url) => `    Callback URL      ${url}`),
  ]);
  return [
    `Authorization server  ${ready.auth_url}`,
    `Resource API          ${ready.base_url}`,
    `Control panel         ${ready.panel_url}`,
    ...(publicName === undefined ? [] : [`Admin token           ${ready.admin_token}`]),
    'Applications',
    ...applications,
    'Users',
    ...alignCells(people),
    ...(clusters.length === 0
      ? []
      : [`Database clusters${owners.length === 1 ? ` of ${owners[0]}` : ''}`, ...alignCells(clusters)]),
    ...commands,
  ].join('\n');
}
