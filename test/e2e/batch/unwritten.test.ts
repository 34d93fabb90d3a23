import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bin, node, run, startProgram } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { logIn } from '../../fixtures/login.ts';
import { type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';

describe.skipIf(process.platform !== 'linux')('a batch whose rows cannot be printed', () => {
  let world: Folders;
  let folders: Folders;
  let sandbox: Sandbox;
  beforeAll(async () => {
    [world, folders] = [makeFolders(), makeFolders()];
    sandbox = await startSandbox(world, ['--no-profile', '--consent', 'approve maya@example.com']);
    expect((await logIn({ folders, env: sandbox.env }, ['--scope', 'read write'])).code).toBe(0);
  });
  afterAll(async () => {
    await sandbox.stop();
    world.remove();
    folders.remove();
  });

  test.each(['ndjson', 'json', 'table'])('has been done: exit 7, and --resume prints them (%s)', async (format) => {
    const given = `--size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3 -o ${format}`;
    const line = `'${node}' '${bin}' droplets create '${format}-{1..5}' ${given} >/dev/full`;
    const ran = await startProgram('/bin/sh', ['-c', line], { folders, env: sandbox.env }).ended;
    expect(ran.code).toBe(7);
    expect(ran.stderr).toContain('ENOSPC');
    expect(ran.stderr).toContain('5 of 5');
    const [, ledger = ''] = /--resume ([^`"\s]+)/.exec(ran.stderr) ?? [];
    const resumed = await run(['droplets', 'create', '--resume', ledger, '-o', 'ndjson'], {
      folders,
      env: sandbox.env,
    });
    expect(resumed.code).toBe(0);
    expect(resumed.stdout.match(/"status":"created"/g)).toHaveLength(5);
  });
});

test.each(['size', 'image'])('an empty --%s is found before a ledger is made', async (option) => {
  const folders = makeFolders();
  try {
    const ran = await run(['droplets', 'create', 'n', '--size', 's', '--image', 'i', `--${option}`, ''], { folders });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(new RegExp(`^error: --${option} is empty\n`));
  } finally {
    folders.remove();
  }
});
