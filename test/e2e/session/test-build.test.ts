import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { failpoints } from '../../../src/auth/session/failpoints.ts';
import { node, type Ran, run, startProgram } from '../../fixtures/cli.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { logIn } from '../../fixtures/login.ts';
import { startSandbox } from '../../fixtures/sandbox.ts';

const product = fileURLToPath(new URL('../../../dist', import.meta.url));
const forTests = fileURLToPath(new URL('../../../dist-test', import.meta.url));
const words = ['CLOUDCTL_TEST_', 'SIGSTOP', ...Object.keys(failpoints)];

function textOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8')] : []))
    .join('\n');
}

describe('the hook that interrupts a refresh', () => {
  test('is not in the product, by no variable and by no name of a point', () => {
    const text = textOf(product);
    expect(words.filter((word) => text.includes(word))).toEqual([]);
  });

  test('is in the build for tests', () => {
    const text = textOf(forTests);
    expect(words.filter((word) => !text.includes(word))).toEqual([]);
  });

  test('ends the program where it is told to, and the next command of the product goes on', async () => {
    const [world, folders] = [makeFolders(), makeFolders()];
    const sandbox = await startSandbox(world, ['--no-profile', '--consent', 'approve maya@example.com']);
    const { env } = sandbox;
    try {
      expect((await logIn({ folders, env })).code).toBe(0);
      const killed = await interrupted(['auth', 'refresh'], { CLOUDCTL_TEST_KILL_AT: 'K8-sealed' });
      expect(killed).toMatchObject({ signal: 'SIGKILL', stdout: '' });
      const status = await run(['auth', 'status', '-o', 'json'], { folders, env });
      expect(status.json()).toMatchObject({ pending_write: true, state: 'valid' });
      expect(await run(['actions', 'list', '-o', 'json'], { folders, env })).toMatchObject({ code: 0 });
      const after = await run(['auth', 'status', '-o', 'json'], { folders, env });
      expect(after.json()).toMatchObject({ pending_write: false, state: 'valid' });
    } finally {
      await sandbox.stop();
      world.remove();
      folders.remove();
    }

    function interrupted(argv: readonly string[], more: Readonly<Record<string, string>>): Promise<Ran> {
      const running = startProgram(node, [`${forTests}/entry.cjs`, ...argv], { folders, env: { ...env, ...more } });
      running.child.stdin?.end();
      return running.ended;
    }
  });
});
