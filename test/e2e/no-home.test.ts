import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type SandboxServers, startServers } from '../../src/sandbox/sandbox.ts';
import { recordedRequests } from '../commands/run-cloudctl.ts';
import { bin, node } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { MAYA, tokenFor } from '../sandbox/requests.ts';

const run = promisify(execFile);
/** A user that the password database does not know, without HOME. */
const nobody = ['--reuid', '54321', '--regid', '54321', '--clear-groups', node, bin];
const isRoot = process.getuid?.() === 0;
if (!isRoot && process.env.CI !== undefined) throw new Error('an unknown user needs root and setpriv');

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run of the unknown user. */
function runAsNobody(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  return run('setpriv', [...nobody, ...argv], { env, cwd: '/' }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error) => error,
  );
}

describe.skipIf(!isRoot)('with the token and the URL in the environment', () => {
  let sandbox: SandboxServers;
  let folders: Folders;
  let env: Readonly<Record<string, string>>;
  beforeAll(async () => {
    sandbox = await startServers();
    const { access_token } = await tokenFor(sandbox, { user: MAYA, scope: 'read write' });
    env = { CLOUDCTL_ACCESS_TOKEN: access_token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
    folders = makeFolders();
    // The unknown user reaches the folders of this test, but can write only to `work`.
    for (const folder of [folders.home, folders.work]) chmodSync(folder, 0o755);
    chmodSync(folders.work, 0o777);
    mkdirSync(join(folders.home, 'locked'), { mode: 0o700 });
  });
  afterAll(async () => {
    await sandbox.close();
    folders.remove();
  });

  const homes: readonly (readonly [what: string, home: () => Readonly<Record<string, string>>])[] = [
    ['without HOME', () => ({})],
    ['with an empty HOME', () => ({ HOME: '' })],
    ['with HOME=/, as docker sets it for an unknown user', () => ({ HOME: '/' })],
    ['with a relative HOME', () => ({ HOME: 'home' })],
    ['with a HOME that does not exist', () => ({ HOME: '/nonexistent/home' })],
    ['with a HOME that the user cannot write to', () => ({ HOME: folders.home })],
    ['with a HOME that the user cannot enter', () => ({ HOME: join(folders.home, 'locked') })],
  ];

  describe.each(homes)('%s', (_what, home) => {
    it.each([
      [['droplets', 'list']],
      [['actions', 'list']],
      [['db', 'list']],
      [['api', '/v2/account']],
      [['auth', 'status']],
      [['auth', 'token']],
      [['auth', 'list']],
      [['config', 'list']],
      [['droplets', 'batches', 'list']],
      [['completion', 'bash']],
    ])('%j needs no folder', async (argv) => {
      const ran = await runAsNobody(argv, { ...env, ...home() });
      expect([ran.code, ran.stderr.includes('folder')]).toEqual([0, false]);
    });

    it('a batch demands a folder or --ledger before any request', async () => {
      const words = [
        '--size',
        's-1vcpu-1gb',
        '--image',
        'ubuntu-24-04-x64',
        '--region',
        'nyc3',
        '--if-exists',
        'create',
      ];
      const before = (await recordedRequests(sandbox)).length;
      const refused = await runAsNobody(['droplets', 'create', 'a-1', ...words, '-o', 'json'], { ...env, ...home() });
      expect([2, 7]).toContain(refused.code);
      const { hint } = JSON.parse(refused.stderr).error;
      expect(hint).toContain('CLOUDCTL_STATE_DIR');
      expect(hint).toContain('--ledger FILE');
      expect((await recordedRequests(sandbox)).length).toBe(before);
      const ledger = join(folders.work, `${randomUUID()}.jsonl`);
      const created = await runAsNobody(['droplets', 'create', 'a-1', 'a-2', ...words, '--ledger', ledger], {
        ...env,
        ...home(),
      });
      expect(created.code).toBe(0);
      const state = join(folders.work, randomUUID());
      const inState = { ...env, ...home(), CLOUDCTL_STATE_DIR: state };
      expect((await runAsNobody(['droplets', 'create', 'a-1', 'a-2', ...words], inState)).code).toBe(0);
      expect(readdirSync(join(state, 'batches')).join()).toContain('.jsonl');
    });

    it('a migration demands a folder before any request', async () => {
      const [cluster] = sandbox.ready.clusters;
      const argv = ['db', 'migrate', cluster?.uuid ?? '', '--source', 'postgres://a@127.0.0.1:1/shop', '-o', 'json'];
      const before = (await recordedRequests(sandbox)).length;
      const ran = await runAsNobody(argv, { ...env, ...home() });
      expect(JSON.parse(ran.stderr).error.hint).toContain('CLOUDCTL_STATE_DIR');
      expect((await recordedRequests(sandbox)).length).toBe(before);
    });

    it('a preflight reads no password file, and connects', async () => {
      const ran = await runAsNobody(['db', 'preflight', '--source', 'postgres://a@127.0.0.1:1/shop'], home());
      expect(ran.code).toBe(3);
    });
  });
});

describe.skipIf(!isRoot)('without HOME and an entry in the password database', () => {
  it('a command that writes has one clear error', async () => {
    const failed: { code: number; stderr: string } = await run(
      'setpriv',
      [...nobody, 'config', 'set', 'scope', 'read'],
      {
        env: {},
        cwd: '/',
      },
    ).then(
      () => ({ code: 0, stderr: '' }),
      (error) => error,
    );
    expect(failed.code).toBe(2);
    expectGolden('config', failed.stderr);
  });

  it('everything works with CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cloudctl-no-home-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    chmodSync(folder, 0o777);
    const env = { CLOUDCTL_CONFIG_DIR: join(folder, 'config'), CLOUDCTL_STATE_DIR: join(folder, 'state') };
    await run('setpriv', [...nobody, 'config', 'set', 'scope', 'read'], { env, cwd: '/' });
    expect(readdirSync(join(folder, 'config'))).toContain('config.json');
  });

  it('a sandbox starts with --no-profile', async () => {
    const child = spawn('setpriv', [...nobody, 'sandbox', 'start', '--no-profile', '-o', 'json'], {
      env: {},
      cwd: '/',
    });
    onTestFinished(() => void child.kill('SIGINT'));
    const [line] = await Promise.race([
      new Promise<string[]>((resolve) => createInterface(child.stdout).once('line', (text) => resolve([text]))),
      new Promise<string[]>((resolve) => child.once('exit', () => resolve(['{}']))),
    ]);
    expect(JSON.parse(line ?? '{}')).toMatchObject({ auth_url: expect.stringContaining('http://127.0.0.1:') });
  });
});
