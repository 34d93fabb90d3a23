import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { followRedirects } from '../commands/run-cloudctl.ts';
import { bin, node, type Ran, type Running, startProgram } from '../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../fixtures/folders.ts';
import { type ContainerNetwork, createContainerNetwork, lacksNamespaces } from '../fixtures/network-namespaces.ts';
import { send } from '../sandbox/requests.ts';

/** Carries out the services of docker/compose.yaml in network namespaces: their commands, variables, names and ports. */
const folder = fileURLToPath(new URL('../../docker', import.meta.url));

interface ComposeFile {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly command: readonly string[];
        readonly environment: Readonly<Record<string, string>>;
        readonly ports?: readonly string[];
        readonly healthcheck?: { readonly test: readonly string[] };
      }
    >
  >;
  readonly networks: {
    readonly default: { readonly ipam: { readonly config: readonly { readonly gateway: string }[] } };
  };
}

const compose: ComposeFile = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'));
const adminToken = 'random-value-of-the-user';

/** `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, as compose replaces them. */
function replaceVariables(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string, fallback: string) => {
    const value = values[name] ?? (kind === '-' ? fallback : undefined);
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  });
}

let network: ContainerNetwork;
let folders: Folders;

function startService(
  service: string,
  container: string,
  values: Readonly<Record<string, string>>,
  extra: readonly string[] = [],
): Running {
  const { command, environment } = compose.services[service]!;
  const words = [...command, ...extra].map((word) => replaceVariables(word, values));
  const env = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, replaceVariables(value, values)]),
  );
  const [program = '', ...args] =
    words[0] === 'node' ? [node, ...words.slice(1).map((word) => word.replace('/app', folder))] : [node, bin, ...words];
  const [file, ...before] = network.inContainer(container);
  return startProgram(file, [...before, program, ...args], {
    folders,
    env: { ...env, CLOUDCTL_CREDENTIAL_STORE: 'file' },
    limit: 60_000,
  });
}

function runIn(container: string, args: readonly string[], env: Environment = {}): Promise<Ran> {
  const [file, ...before] = network.inContainer(container);
  return startProgram(file, [...before, node, bin, ...args], { folders, env, limit: 30_000 }).ended;
}

async function startSandbox(
  sandboxHost?: string,
): Promise<{ readonly sandbox: Running; readonly ready: Readonly<Record<string, string>> }> {
  const values = {
    SANDBOX_ADMIN_TOKEN: adminToken,
    ...(sandboxHost === undefined ? {} : { SANDBOX_HOST: sandboxHost }),
  };
  const sandbox = startService('sandbox', 'sandbox', values, ['-o', 'json']);
  const [line] = await sandbox.waitFor('stdout', /^\{.*\}$/m);
  return { sandbox, ready: JSON.parse(line) };
}

/** The exit status of the health check of a service. */
async function healthOf(service: string): Promise<number | null> {
  const [kind, program, ...words] = compose.services[service]?.healthcheck?.test ?? [];
  expect([kind, program]).toEqual(['CMD', 'node']);
  const [file, ...before] = network.inContainer(service);
  return (await startProgram(file, [...before, node, ...words], { folders, limit: 30_000 }).ended).code;
}

async function end(running: Running): Promise<Ran> {
  running.kill('SIGTERM');
  return running.ended;
}

describe.skipIf(lacksNamespaces())('the services of docker/compose.yaml', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    folders = makeFolders();
    const [{ gateway } = { gateway: '' }] = compose.networks.default.ipam.config;
    network = createContainerNetwork(gateway.replace(/\.1$/, ''), ['sandbox', 'app']);
    for (const published of compose.services.sandbox?.ports ?? []) {
      const [address, here, there] = published.split(':');
      expect([address, here]).toEqual(['127.0.0.1', there]);
      await network.publish('sandbox', Number(there));
    }
  });
  afterAll(async () => {
    await network?.remove();
    folders?.remove();
  });

  test('another container reads every page under the public name', async () => {
    const { sandbox, ready } = await startSandbox();
    expect(ready).toMatchObject({
      auth_url: 'http://sandbox:8080',
      base_url: 'http://sandbox:8081',
      admin_token: adminToken,
    });
    const app = await startService('app', 'app', { SANDBOX_ADMIN_TOKEN: adminToken }).ended;
    expect(app).toMatchObject({ code: 0, stderr: '' });
    expect(app.stdout.trim().split('\n').length).toBeGreaterThan(1);

    expect(await healthOf('sandbox')).toBe(0);
    expect((await runIn('sandbox', ['sandbox', 'clock'])).code).toBe(0);
    expect((await send('http://127.0.0.1:8080', '/panel/sign-in')).status).toBe(200);
    expect((await send('http://127.0.0.1:8080', '/panel')).status).toBe(401);
    const rebound = { headers: { host: 'evil.example:8080' } };
    expect((await send('http://127.0.0.1:8080', '/panel/sign-in', rebound)).status).toBe(421);
    const wrong = { headers: { 'x-admin-token': 'a-wrong-token-of-length' } };
    expect((await send('http://127.0.0.1:8080', '/_sandbox/clock', wrong)).status).toBe(403);
    expect((await end(sandbox)).code).toBe(0);
    expect(await healthOf('sandbox')).toBe(1);
  });

  test('a login in a container receives the redirect of a browser outside, and no other container ends it', async () => {
    const { sandbox, ready } = await startSandbox('localhost');
    const login = startService('login', 'sandbox', {
      SANDBOX_CLIENT_ID: ready.client_id ?? '',
      SANDBOX_CLIENT_SECRET: ready.client_secret ?? '',
    });
    const [url] = await login.waitFor('stderr', /^http:\S+authorize\?\S+$/m);
    const attack = `fetch('http://sandbox:8765/callback?code=x&state=y', { headers: { host: '127.0.0.1:8765' } }).then(() => process.exit(1), () => process.exit(0))`;
    const [file, ...before] = network.inContainer('app');
    execFileSync(file, [...before, node, '-e', attack]);

    const page = await fetch(url, { redirect: 'manual' });
    const redirect = page.headers.get('location') ?? '';
    expect(redirect).toMatch(/^http:\/\/127\.0\.0\.1:8765\/callback\?/);
    // `fetch` would add headers that no navigation has.
    await followRedirects(redirect);
    expect((await login.ended).code).toBe(0);
    const { CLOUDCTL_AUTH_URL, CLOUDCTL_BASE_URL } = compose.services.login?.environment ?? {};
    const env = {
      CLOUDCTL_AUTH_URL,
      CLOUDCTL_BASE_URL,
      CLOUDCTL_CLIENT_ID: ready.client_id,
      CLOUDCTL_CREDENTIAL_STORE: 'file',
    };
    // The path of the next page comes from the links of the sandbox.
    const list = await runIn('sandbox', ['api', '/v2/droplets?per_page=1', '--paginate'], env);
    expect(list).toMatchObject({ code: 0, stderr: '' });
    expect((await end(sandbox)).code).toBe(0);
  });
});
