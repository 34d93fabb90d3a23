import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountFromGrant, storeAccount } from '../../../src/auth/session/account.ts';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import { encodeRecord, type SessionRecord } from '../../../src/auth/session/record.ts';
import { createFileStore, writeClientSecret } from '../../../src/auth/session/store.ts';
import { Secret } from '../../../src/base/secret.ts';
import { type SandboxServers, type ServerOptions, startServers } from '../../../src/sandbox/sandbox.ts';
import { bin, node, type Ran, type Running, startProgram } from '../../fixtures/cli.ts';
import { environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import { authorizationUrl, visit } from '../../fixtures/login.ts';
import { profileOf, recordOf } from '../../fixtures/session.ts';
import { admin, answerConsentPage, MAYA, send, signIn, submit, tokenFor } from '../../sandbox/requests.ts';

/** A person with a shell, a browser and an account at a sandbox of their own. */
export interface World {
  readonly folders: Folders;
  readonly sandbox: SandboxServers;
  /** The variables of the shell; what a line exports or unsets stays. */
  readonly env: Record<string, string | undefined>;
  /** What the person does at the page of a login. */
  browser: Browser;
  /** Runs a line as it would be pasted into the shell; pages of a login are visited. */
  shell(line: string, stdin?: string): Promise<Ran>;
  /** Starts a line in the background. */
  start(line: string): Running;
  /** The folder in which lines run. */
  cwd: string;
  /** What precedes the shell, such as the words that make it the shell of another user. */
  prefix: readonly string[];
  /** What ends with the case. */
  later(end: () => unknown): void;
  close(): Promise<void>;
  /** Gives the address of the last page to the terminal, for `--paste`. */
  paste: ((address: string) => void) | undefined;
  /** What a person does at the keychain. */
  unlock: () => unknown;
}

export type Browser = (world: World, url: string) => Promise<unknown>;

/** Signs in and answers the consent page as this person, and comes back on the port where the login listens. */
export function personAt(
  email = MAYA,
  fields: Readonly<Record<string, string>> = { decision: 'approve' },
  port?: string,
): Browser {
  return async (world, url) => {
    const { sandbox } = world;
    const cookie = await signIn(sandbox, email);
    const query = new URL(url).searchParams.toString();
    const answer = await answerConsentPage(sandbox, cookie, query, { account: 'personal', ...fields }).catch(
      () => undefined,
    );
    const location = answer?.headers.location ?? (await pageless(sandbox, cookie, query));
    if (location === undefined) return;
    const { hash } = new URL(location);
    const address = new URL(location);
    if (port !== undefined) address.port = port;
    if (world.paste !== undefined) return world.paste(address.href);
    const page = await visit(address.href);
    // What the script of the page does with the answer of the implicit flow.
    const nonce = /nonce["']?\s*[:=]\s*["']([\w-]{16,})["']/.exec(page.body)?.[1];
    if (hash !== '' && nonce !== undefined) await relay(address, nonce, hash.slice(1));
  };
}

async function relay({ origin, pathname }: URL, nonce: string, fragment: string): Promise<void> {
  await fetch(`${origin}${pathname}/fragment`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ nonce, fragment }),
  });
}

/** Where a request goes on that shows no page, as with `prompt=none`. */
async function pageless({ ready }: SandboxServers, cookie: string, query: string): Promise<string | undefined> {
  const answer = await fetch(`${ready.auth_url}/v1/oauth/authorize?${query}`, {
    headers: { cookie },
    redirect: 'manual',
  });
  return answer.headers.get('location') ?? undefined;
}

/** Comes back with these parameters instead of what the server would say. */
export function redirectsWith(parameters: Readonly<Record<string, string>>): Browser {
  return async (_world, url) => {
    const asked = new URL(url).searchParams;
    const address = new URL(asked.get('redirect_uri') ?? '');
    for (const [name, value] of Object.entries(parameters))
      address.searchParams.set(name, value === 'STATE' ? (asked.get('state') ?? '') : value);
    await visit(address.href);
  };
}

export interface WorldOptions extends ServerOptions {
  /** Without a profile and a session. */
  readonly isEmpty?: boolean;
}

/** A world with the profile `default`, logged in as Maya with a session in a file. */
export async function makeWorld({ isEmpty = false, ...options }: WorldOptions = {}): Promise<World> {
  const folders = makeFolders();
  const sandbox = await startServers(options);
  const ends: (() => unknown)[] = [];
  const tools = join(folders.home, 'bin');
  mkdirSync(tools);
  writeFileSync(join(tools, 'cloudctl'), `#!/bin/sh\nexec '${node}' '${bin}' "$@"\n`);
  chmodSync(join(tools, 'cloudctl'), 0o755);
  writeFileSync(join(tools, 'briefly'), briefly, { mode: 0o755 });
  const world: World = {
    folders,
    sandbox,
    env: { ...environment(folders), BROWSER: undefined, PATH: `${tools}:${process.env.PATH}` },
    browser: personAt(),
    cwd: folders.work,
    prefix: [],
    unlock: () => undefined,
    paste: undefined,
    later: (end) => void ends.push(end),
    shell: (line, stdin) => shell(world, line, stdin),
    start: (line) =>
      startProgram('sh', ['-c', `exec ${line}`], { folders, env: world.env, cwd: world.cwd, limit: 120_000 }),
    close: async () => {
      for (const end of ends.reverse()) await end();
      await sandbox.close();
      folders.remove();
    },
  };
  if (!isEmpty) {
    writeProfile(world, 'default');
    await logIn(world);
  }
  return world;
}

/** Runs a sandbox until it says that it is there, or until it fails. */
const briefly = `#!/bin/sh
said=$(mktemp)
"$@" 2> "$said" &
while kill -0 $! 2> /dev/null && ! grep -q Ctrl-C "$said"; do sleep 0.1; done
grep -q Ctrl-C "$said" && kill -TERM $!
wait $!
status=$?
cat "$said" >&2
grep -q Ctrl-C "$said" && status=0
rm "$said"
exit $status
`;

let shells = 0;

/** `export` and `unset` have to outlive the shell, and a page has to be visited while it runs. */
async function shell(world: World, line: string, stdin = ''): Promise<Ran> {
  if (line === 'cloudctl sandbox start') return startSandbox(world);
  const after = join(world.folders.home, `environment.${++shells}`);
  const script = `${line}\nstatus=$?\nenv -0 > '${after}'\nexit $status`;
  const [file = 'sh', ...words] = [...world.prefix, 'sh', '-c', script];
  const running = startProgram(file, words, {
    folders: world.folders,
    env: world.env,
    cwd: world.cwd,
    limit: 90_000,
  });
  const isPasting = / --paste\b/.test(line);
  world.paste = isPasting ? (address) => void running.child.stdin?.end(`${address}\n`) : undefined;
  if (!isPasting) running.child.stdin?.end(stdin);
  // A login that has ended does not answer.
  const page = running
    .waitFor('stderr', authorizationUrl)
    .then(([url]) => world.browser(world, url))
    .catch(() => undefined);
  const ran = await running.ended;
  await page;
  const left = Object.fromEntries(
    readFileSync(after, 'utf8')
      .split('\0')
      .filter((entry) => entry.includes('='))
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)] as const),
  );
  for (const name of Object.keys(world.env)) if (!(name in left)) world.env[name] = undefined;
  for (const [name, value] of Object.entries(left)) if (!/^(_|PWD|OLDPWD|SHLVL)$/.test(name)) world.env[name] = value;
  return ran;
}

/** It runs until Ctrl-C, so it has a shell of its own; its consent page answers by itself. */
async function startSandbox(world: World): Promise<Ran> {
  const running = world.start('cloudctl sandbox start --consent "approve maya@example.com"');
  world.later(async () => {
    running.kill('SIGINT');
    await running.ended;
  });
  await running.waitFor('stderr', /Ctrl-C/);
  world.browser = async (_world, url) => {
    const { origin } = new URL(url);
    for (let tries = 0; tries < 10; tries++) {
      const page = await visit(url).catch(() => undefined);
      if (page !== undefined && new URL(page.url).origin !== origin) return;
    }
  };
  return { code: 0, signal: null, ...running.printed(), json: () => JSON.parse('null') };
}

/** From here on the shell is that of a user without rights, to whom the folders belong. */
export function becomeOrdinaryUser(world: World): void {
  if (!isRoot) return;
  execFileSync('chown', ['-R', '54321:54321', world.folders.home]);
  world.prefix = ['setpriv', '--reuid', '54321', '--regid', '54321', '--clear-groups'];
}

/** Only root can give a file to another user. */
export const isRoot = process.geteuid?.() === 0;

/** Writes the profile of the sandbox; `values` with undefined take a key away. */
export function writeProfile(world: World, name: string, values: Readonly<Record<string, unknown>> = {}): void {
  const config = readConfig(world);
  const profile = { ...profileOf(world.sandbox), ...values };
  writeConfig(world, { current: 'default', ...config, profiles: { ...config.profiles, [name]: profile } });
}

interface Config {
  readonly profiles?: Readonly<Record<string, object>>;
}

function readConfig({ folders }: World): Config {
  try {
    const config: Config = JSON.parse(readFileSync(join(folders.config, 'config.json'), 'utf8'));
    return config;
  } catch {
    return {};
  }
}

export function writeConfig({ folders }: World, config: object | string): void {
  mkdirSync(folders.config, { recursive: true, mode: 0o700 });
  const text = typeof config === 'string' ? config : JSON.stringify(config, null, 2);
  writeFileSync(join(folders.config, 'config.json'), text, { mode: 0o600 });
}

export interface SessionOptions {
  readonly profile?: string;
  readonly user?: string;
  readonly scope?: string;
  readonly team?: string;
  readonly record?: { readonly [K in keyof SessionRecord]?: SessionRecord[K] | undefined };
  readonly flow?: 'code' | 'implicit' | 'token';
  /** The grant named no account. */
  readonly isUnnamed?: boolean;
}

/** A session of a grant of the sandbox in the file store, with the client secret, as a login leaves them. */
export async function logIn(
  { folders, sandbox }: World,
  {
    profile = 'default',
    user = MAYA,
    scope = 'read write',
    team,
    record = {},
    flow = 'code',
    isUnnamed,
  }: SessionOptions = {},
): Promise<SessionRecord> {
  const grant = await tokenFor(sandbox, { user, scope, ...(team === undefined ? {} : { team }) });
  const { uuid = '', name = '', email = '', team_uuid } = grant.info;
  const known = { accountUuid: uuid, team: team_uuid ?? 'personal' };
  const clock = { now: () => Date.now(), sleep: async () => undefined, advance: () => undefined };
  const changes = Object.entries({ ...known, ...record });
  const stored = recordOf(
    { clock },
    sandbox,
    grant,
    Object.fromEntries(changes.filter(([, value]) => value !== undefined)),
  );
  // recordOf has a refresh token of its own.
  const { refreshToken, ...rest } = stored;
  const store = createFileStore(profilePaths(folders.state, profile));
  await store.withItems((items) =>
    items.write(
      'credential',
      encodeRecord('refreshToken' in record && record.refreshToken === undefined ? rest : stored),
    ),
  );
  const { ready } = sandbox;
  await writeClientSecret(
    store,
    { authOrigin: ready.auth_url, clientId: ready.client_id },
    new Secret(ready.client_secret),
  );
  storeAccount(
    folders.config,
    profile,
    accountFromGrant(stored.sid, isUnnamed ? undefined : { uuid, name, email }, scope, flow),
  );
  return stored;
}

export function credentialFile({ folders }: World, profile = 'default'): string {
  return profilePaths(folders.state, profile).credentialFile;
}

/** Revokes the application on the page of the panel. */
export async function revokeInPanel({ sandbox }: World, user = MAYA): Promise<void> {
  const cookie = await signIn(sandbox, user);
  const page = await send(sandbox.ready.auth_url, '/panel/applications', { headers: { cookie } });
  const answer = await submit(sandbox, page, cookie, {});
  if (answer.status !== 303) throw new Error(`the panel answered ${answer.status}`);
}

/** Revokes an access token at the endpoint, as another program can. */
export async function revokeAtEndpoint({ sandbox }: World, token: string): Promise<void> {
  const answer = await send(sandbox.ready.auth_url, `/v1/oauth/revoke?token=${token}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  if (answer.status !== 200) throw new Error(`the endpoint answered ${answer.status}: ${answer.body}`);
}

/** The next requests that match are answered in another way. */
export async function fault({ sandbox }: World, body: object): Promise<void> {
  const answer = await admin(sandbox, 'POST', '/_sandbox/faults', body);
  if (answer.status >= 300) throw new Error(`no fault: ${answer.status} ${answer.body}`);
}

/** What a person enters at the prompts of `auth setup`, as options. */
export function setupAnswers({ sandbox: { ready } }: World): { readonly words: string; readonly stdin: string } {
  const words = [
    `--auth-url ${ready.auth_url} --base-url ${ready.base_url} --client-id ${ready.client_id}`,
    `--callback-url ${ready.callback_url} --credential-store file --client-secret-stdin`,
  ];
  return { words: words.join(' '), stdin: `${ready.client_secret}\n` };
}
