import { describe, expect, it } from 'vitest';
import type { CommandGroup, LazyCommand } from '../src/cli/command.ts';
import { commandTree } from '../src/commands/index.ts';
import type { CommandContext } from '../src/context.ts';
import { isSandboxStartCommand, runCliCommandLine } from '../src/main.ts';
import { createSandboxHost, runCloudctl, sandboxEnvironment, stableText } from './commands/run-cloudctl.ts';
import { closedOrigin, reply, serverFor } from './fixtures/fake-server.ts';
import { expectGolden } from './fixtures/golden.ts';
import { memoryKeychain, testHost } from './fixtures/host.ts';
import { seedSession } from './fixtures/session.ts';
import { sandboxFor } from './sandbox/requests.ts';

it.each([
  [['sandbox', 'start', '--port', '0'], true],
  [['--no-color', 'sandbox', 'start'], true],
  [['--profile', 'sandbox', 'droplets', 'create', 'web-1'], false],
  [['sandbox', 'env'], false],
  [[], false],
])('%j: a server that runs for hours is %s', (argv, is) => {
  expect(isSandboxStartCommand(argv)).toBe(is);
});

describe('the exit status', () => {
  it('is 0 for help and version, which need nothing', async () => {
    for (const words of [['--help'], ['-h'], ['help'], ['--version'], ['-V'], ['droplets', '--help']]) {
      const ran = await runCloudctl(testHost({ env: { CLOUDCTL_AUTH_URL: 'nonsense' } }), words);
      expect(ran, words.join(' ')).toMatchObject({ code: 0, err: '' });
      expect(ran.out).not.toBe('');
    }
  });

  it('is 0 for the help of the program, which shows what to try first', async () => {
    expect((await runCloudctl(testHost(), ['--help'])).out).toMatch(/\n {2}\$ cloudctl sandbox start\n/);
  });

  it.each([
    [['nope']],
    [['dropplet', 'list']],
    [['droplets', 'list', '--nope']],
    [['droplets', 'list', '-o', 'xml']],
    [['droplets', 'list', '--format', 'Nmae']],
    [['droplets', 'list', '--timeout', '0s']],
    [['droplets', 'list', '--timeout', 'soon']],
    [['droplets', 'list', '--profile', 'A B']],
    [['droplets', 'list', '--base-url', 'http://cloud.example']],
    [['auth', 'status', '--profile', 'nope']],
  ])('is 2 for wrong arguments: %j', async (words) => {
    const sandbox = await sandboxFor();
    const ran = await runCloudctl(await createSandboxHost(sandbox), words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('errors', stableText(ran));
    expect(ran.err).toMatch(/^error: /);
  });

  it('is 2 for a wrong variable, which is named', async () => {
    for (const [name, value] of [
      ['CLOUDCTL_OUTPUT', 'xml'],
      ['CLOUDCTL_AUTH_URL', 'http://cloud.example'],
      ['CLOUDCTL_FLOW', 'magic'],
    ]) {
      const ran = await runCloudctl(testHost({ env: { [name ?? '']: value } }), ['config', 'list']);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(ran.err).toContain(name);
    }
  });

  it('is 4 when nobody is logged in, 1 when the keychain is away, 6 when the server is', async () => {
    const sandbox = await sandboxFor();
    expect((await runCloudctl(await createSandboxHost(sandbox), ['actions', 'list'])).code).toBe(4);
    const env = { ...sandboxEnvironment(sandbox), CLOUDCTL_CREDENTIAL_STORE: 'keychain' };
    const locked = testHost({ env, keychain: memoryKeychain(new Map(), () => 'locked') });
    expect((await runCloudctl(locked, ['actions', 'list'])).code).toBe(1);
    const away = { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: await closedOrigin() };
    expect((await runCloudctl(testHost({ env: away }), ['actions', 'list'])).code).toBe(6);
  });

  it('is 1 for a bug, whose secrets are left out', async () => {
    const sandbox = await sandboxFor();
    const host = testHost({
      send: () => Promise.reject(new TypeError('Failed to parse URL https://x/y?refresh_token=hunter2')),
    });
    await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['actions', 'list', '-o', 'json']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.error()).toMatchObject({ code: 'internal' });
    expect(ran.err).not.toContain('hunter2');
  });
});

describe('an error', () => {
  const words = ['actions', 'list'];
  const away = async () => ({ CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: await closedOrigin() });

  it('has three parts on standard error', async () => {
    const ran = await runCloudctl(testHost(), words);
    expect(ran.out).toBe('');
    expect(ran.err).toMatch(/^error: .+\ndetail: .+\nhint: .+\n$/);
  });

  it('names the profile in the command of its hint, whichever part of the program it comes from', async () => {
    const origin = await closedOrigin();
    const host = testHost();
    await seedSession(host, await sandboxFor(), {
      profile: 'second',
      values: { auth_url: origin, base_url: origin },
      record: { authOrigin: origin, baseOrigin: origin },
    });
    for (const options of [['--profile', 'second'], []]) {
      const env = options.length === 0 ? { CLOUDCTL_PROFILE: 'second' } : {};
      const ran = await runCloudctl(host, [...options, 'droplets', 'list', '-o', 'json'], { env });
      expect(ran).toMatchObject({ code: 6, out: '' });
      expect(ran.error().hint).toContain('`cloudctl config list --profile second`');
      const empty = await runCloudctl(host, [...options, 'droplets', 'get', ' ', '-o', 'json'], { env });
      expect(empty.error().hint).toContain('`cloudctl droplets list --profile second`');
    }
  });

  it.each([
    [['-o', 'json'], {}],
    [['-o', 'ndjson'], {}],
    [[], { CLOUDCTL_OUTPUT: 'json' }],
  ])('is one JSON object with %j %j', async (more, env) => {
    const ran = await runCloudctl(testHost({ env: { ...(await away()), ...env } }), [...words, ...more]);
    expect(ran).toMatchObject({ code: 6, out: '' });
    expect(Object.keys(JSON.parse(ran.err))).toEqual(['error']);
    expect(ran.error()).toMatchObject({ code: 'unreachable', exit_code: 6, hint: expect.any(String) });
  });

  it('is one JSON object where the profile asks for JSON, and text where the words ask for a table', async () => {
    const host = testHost({ env: await away() });
    await runCloudctl(host, ['config', 'set', 'output', 'json']);
    expect((await runCloudctl(host, words)).error()).toMatchObject({ code: 'unreachable' });
    expect((await runCloudctl(host, [...words, '-o', 'table'])).err).toMatch(/^error: /);
  });

  it('of wrong words is JSON as well when JSON was asked for', async () => {
    const ran = await runCloudctl(testHost(), [...words, '--nope', '-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'usage', exit_code: 2 });
  });

  it('carries status and request id of the answer', async () => {
    const { origin } = await serverFor((_, response) =>
      reply(response, 409, { id: 'conflict', message: 'no\u001b[31m' }, { 'x-request-id': 'r-7' }),
    );
    const env = { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin };
    const ran = await runCloudctl(testHost({ env }), [...words, '-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'api_error', status: 409, request_id: 'r-7', detail: 'no' });
    expect((await runCloudctl(testHost({ env }), words)).err).not.toContain('\u001b');
  });
});

describe('--quiet', () => {
  it('leaves notices out and data in', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox);
    expect(await runCloudctl(host, ['config', 'set', 'scope', 'read', '-q'])).toMatchObject({
      code: 0,
      out: '',
      err: '',
    });
    expect((await runCloudctl(host, ['config', 'get', 'scope', '-q'])).out).toBe('read\n');
  });

  it('leaves errors in', async () => {
    expect((await runCloudctl(testHost(), ['auth', 'status', '--quiet'])).err).toMatch(/^error: /);
  });
});

describe('--trace', () => {
  it('tells each request on standard error and no secret', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['actions', 'list', '--trace', '-o', 'json']);
    expect(ran.err).toMatch(/^GET http:\S+\/v2\/actions\?page&per_page 200 \d+ ms$/m);
    expect(ran.err).not.toContain(grant.access_token);
    expect(() => JSON.parse(ran.out)).not.toThrow();
  });
});

/** Arguments with which these commands succeed. Any other command with a required argument is run without it, which is exit 2. */
const typed: Readonly<Record<string, readonly string[]>> = {
  'auth switch': ['default'],
  'auth login': ['--login-timeout', '1s'],
  'droplets create': ['said-1', '--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'],
  api: ['GET', '/v2/actions'],
  'config get': ['auth_url'],
  'config set': ['scope', 'read'],
  'config unset': ['scope'],
  completion: ['bash'],
  'sandbox clock': ['now'],
  'sandbox token': ['--user', 'maya@example.com'],
  'sandbox faults add': ['--match', 'GET /v2/nothing', '--action', 'status'],
  'sandbox snapshot': ['-'],
};

/** Commands whose standard output is not JSON, or that need other servers. */
const elsewhere = /^(db|doctor|auth token|config get|config path|completion|sandbox (start|env|clock|token|restore))\b/;

function pathsOf(
  tree: Readonly<Record<string, CommandGroup<CommandContext> | LazyCommand<CommandContext>>>,
  above = '',
): readonly string[] {
  return Object.entries(tree).flatMap(([name, node]) =>
    node.kind === 'command' ? [`${above}${name}`] : pathsOf(node.children, `${above}${name} `),
  );
}

describe('standard output carries data only', () => {
  it.each(pathsOf(commandTree).filter((path) => !elsewhere.test(path)))('%s', async (path) => {
    const sandbox = await sandboxFor();
    const env = {
      CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret,
      CLOUDCTL_SANDBOX_ADMIN_URL: sandbox.ready.admin_url,
      CLOUDCTL_SANDBOX_ADMIN_TOKEN: sandbox.ready.admin_token,
    };
    const host = testHost({ env });
    await seedSession(host, sandbox);
    const ran = await runCloudctl(host, [...path.split(' '), ...(typed[path] ?? []), '-o', 'json']);
    if (ran.out !== '') expect(() => JSON.parse(ran.out), ran.out).not.toThrow();
    expect(ran.out).not.toMatch(/^(error|hint|warning|detail):/m);
    expect(typed[path] === undefined ? [0, 2, 4] : [0, 4]).toContain(ran.code);
  });
});

it('one call of run is the whole program, and nothing of it is left for the next', async () => {
  const [a, b] = [testHost(), testHost()];
  const codes = await Promise.all([
    runCliCommandLine(['config', 'set', 'scope', 'read'], a),
    runCliCommandLine(['config', 'get', 'scope'], b),
  ]);
  expect(codes).toEqual([0, 1]);
  expect(a.out()).toBe('');
});
