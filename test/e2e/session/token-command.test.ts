import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, node, run, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { logIn } from '../../fixtures/login.ts';
import { type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';

function foldersOfTest(): Folders {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return folders;
}

/** A sandbox, and a machine with the only session: its profile `sandbox`. */
async function startBroker(): Promise<{ readonly sandbox: Sandbox; readonly folders: Folders }> {
  const folders = foldersOfTest();
  const sandbox = await startSandbox(folders, ['--consent', 'approve maya@example.com']);
  onTestFinished(async () => void (await sandbox.stop()));
  expect((await logIn({ folders, env: { CLOUDCTL_PROFILE: 'sandbox' } }, ['--scope', 'read write'])).code).toBe(0);
  return { sandbox, folders };
}

function writeProfile(folder: string, profile: object): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { default: profile } }));
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('token_command', () => {
  test('20 processes go on over 2 refreshes of the session that a broker keeps', { timeout: 240_000 }, async () => {
    const { sandbox, folders: broker } = await startBroker();
    const machine = foldersOfTest();
    const onBroker = [`CLOUDCTL_CONFIG_DIR=${broker.config}`, `CLOUDCTL_STATE_DIR=${broker.state}`];
    const runsFile = join(machine.work, 'runs');
    const count = `echo run >> "${runsFile}"; exec "$0" "$@"`;
    const runs = () => (existsSync(runsFile) ? readFileSync(runsFile, 'utf8').split('\n').length - 1 : 0);
    writeProfile(machine.config, {
      base_url: sandbox.base_url,
      token_command: ['sh', '-c', count, ...['env', ...onBroker, node, bin, 'auth', 'token', '--profile', 'sandbox']],
    });
    const fault = { match: { method: 'POST', path: '/v2/droplets' }, action: 'delay', delay: '1s', times: 10_000 };
    expect((await sandbox.admin('POST', '/_sandbox/faults', fault)).status).toBeLessThan(300);
    const options = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3'];
    const slow = ['--batch-size', '1', '--concurrency', '1', '-o', 'json'];
    const running = Array.from({ length: 20 }, (_, at) =>
      start(['droplets', 'create', `m${at}-{01..12}`, ...options, ...slow], { folders: machine, limit: 200_000 }),
    );
    for (const { child } of running) child.stdin?.end();
    /** Also ends when no process is left, whose exit codes then say why. */
    const until = async (condition: () => boolean | Promise<boolean>) => {
      while (running.some(({ child }) => child.exitCode === null) && !(await condition())) await sleep(50);
    };
    await until(() => runs() >= running.length);
    for (const before of [20, 60]) {
      const begun = (await creations(sandbox)).length;
      await until(async () => (await creations(sandbox)).length >= begun + before);
      expect((await run(['auth', 'refresh', '--profile', 'sandbox'], { folders: broker })).code).toBe(0);
    }
    const ran = await Promise.all(running.map(({ ended }) => ended));
    expect(ran.map(({ code, stderr }) => ({ code, stderr: code === 0 ? '' : stderr }))).toEqual(
      ran.map(() => ({ code: 0, stderr: '' })),
    );
    const sent = await creations(sandbox);
    const refused = sent.filter(({ status }) => status !== 202);
    expect(refused.length).toBeGreaterThan(10);
    expect(sent.length - refused.length).toBe(20 * 12);
    // Once at the start, and once for each of the two refused tokens.
    expect(runs()).toBeLessThanOrEqual(20 * 3);
  });

  test('a program that uses its own profile fails at once', async () => {
    const folders = foldersOfTest();
    const env = { CLOUDCTL_CONFIG_DIR: undefined, CLOUDCTL_STATE_DIR: undefined };
    const count = `echo run >> "${folders.work}/runs"; exec "$0" "$@"`;
    writeProfile(join(folders.home, '.config', 'cloudctl'), {
      base_url: 'http://127.0.0.1:8999',
      token_command: ['sh', '-c', count, node, bin, 'auth', 'token'],
    });
    const ran = await run(['droplets', 'list', '-o', 'json'], { folders, env });
    expect(ran.code).toBe(4);
    const { error } = JSON.parse(ran.stderr) as { readonly error: { readonly code: string } };
    expect(error.code).toBe('token_command_failed');
    expect(readFileSync(join(folders.work, 'runs'), 'utf8')).toBe('run\n');
  });

  test('the token is in no argument, trace or error, and the keychain and the session files are not used', async () => {
    const { sandbox, folders: broker } = await startBroker();
    const machine = foldersOfTest();
    const token = (await run(['auth', 'token', '--profile', 'sandbox'], { folders: broker })).stdout.trim();
    writeFileSync(join(machine.work, 'token'), `${token}\n`);
    const script = 'cat "$1/token"; ps -eo args > "$1/arguments"; cat "$1/token" >&2';
    writeProfile(machine.config, {
      base_url: sandbox.base_url,
      token_command: ['sh', '-c', script, 'program', machine.work],
    });
    const traced = await run(['droplets', 'list', '--trace'], { folders: machine });
    const failed = await run(['droplets', 'get', '7', '--trace'], { folders: machine });
    expect([traced.code, failed.code]).toEqual([0, 1]);
    for (const text of [traced.stdout, traced.stderr, failed.stdout, failed.stderr]) expect(text).not.toContain(token);
    expect(readFileSync(join(machine.work, 'arguments'), 'utf8')).not.toContain(token);
  });
});

async function creations(sandbox: Sandbox): Promise<readonly { readonly status?: number }[]> {
  const { body } = await sandbox.admin('GET', '/_sandbox/requests');
  const { requests } = body as { readonly requests: { method: string; path: string; status?: number }[] };
  return requests.filter(({ method, path }) => method === 'POST' && path === '/v2/droplets');
}
