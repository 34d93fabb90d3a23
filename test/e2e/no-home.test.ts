import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bin, node } from '../fixtures/cli.ts';
import { expectGolden } from '../fixtures/golden.ts';

const run = promisify(execFile);
/** A user that the password database does not know, without HOME. */
const nobody = ['--reuid', '54321', '--regid', '54321', '--clear-groups', node, bin];
const isRoot = process.getuid?.() === 0;
if (!isRoot && process.env.CI !== undefined) throw new Error('an unknown user needs root and setpriv');

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
