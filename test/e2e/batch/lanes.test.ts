import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../fixtures/cli.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { logIn } from '../../fixtures/login.ts';
import { startSandbox } from '../../fixtures/sandbox.ts';

test('32 requests in flight say no more than one does', async () => {
  const [world, folders] = [makeFolders(), makeFolders()];
  const sandbox = await startSandbox(world, ['--no-profile', '--consent', 'approve maya@example.com']);
  onTestFinished(async () => {
    await sandbox.stop();
    world.remove();
    folders.remove();
  });
  const { env } = sandbox;
  expect((await logIn({ folders, env }, ['--scope', 'read write'])).code).toBe(0);
  const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3', '-o', 'ndjson'];
  const words = ['droplets', 'create', 'n-{1..80}', '--batch-size', '1', '--concurrency', '32', ...like];
  const ran = await run(words, { folders, env });
  expect(ran.code).toBe(0);
  expect(ran.stdout.match(/"status":"created"/g)).toHaveLength(80);
  expect(ran.stderr.split('\n').filter((line) => !/^(ledger: |\d+\/80 created|80 created\.|$)/.test(line))).toEqual([]);
});
