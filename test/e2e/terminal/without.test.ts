import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import { terminal } from '../../fixtures/terminal.ts';

/** Everything that setup asks for, with the option and the variable that give it. */
const questions = [
  { variable: 'CLOUDCTL_AUTH_URL', value: 'https://cloud.example.com', way: '--auth-url' },
  { variable: 'CLOUDCTL_BASE_URL', value: 'https://api.example.com', way: '--base-url' },
  { variable: 'CLOUDCTL_CLIENT_ID', value: 'my-application', way: '--client-id' },
  { variable: 'CLOUDCTL_CALLBACK_URL', value: 'http://127.0.0.1:8765/callback', way: '--callback-url' },
  { variable: 'CLOUDCTL_CLIENT_SECRET', value: 'hush-4f1c09d2ab77', way: '--client-secret-stdin' },
] as const;

const all: Environment = {
  ...Object.fromEntries(questions.map(({ variable, value }) => [variable, value])),
  CLOUDCTL_CREDENTIAL_STORE: 'file',
};

let folders: Folders;
beforeEach(() => {
  folders = makeFolders();
});
afterEach(() => folders.remove());

describe('without a terminal nothing is asked', () => {
  test('setup takes everything from options and variables, and the scope that nobody gave is read', async () => {
    const ran = await run(['auth', 'setup'], { folders, env: all });
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(await run(['config', 'get', 'scope'], { folders })).toMatchObject({ stdout: 'read\n' });
  });

  test.for(questions)(
    'setup without $variable is exit 2 and names $way and the variable',
    async ({ variable, way }) => {
      const ran = await run(['auth', 'setup'], { folders, env: { ...all, [variable]: undefined } });
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      expect(ran.stderr).toMatch(/^error: .+\nhint: .*\n$/);
      expect(ran.stderr).toContain(`\`${way}\``);
      expect(ran.stderr).toContain(variable);
    },
  );

  test.for(questions)(
    'login without $variable is exit 2 and names $way and the variable',
    async ({ variable, way }) => {
      const ran = await run(['auth', 'login'], { folders, env: { ...all, [variable]: undefined } });
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      expect(ran.stderr).toContain(way);
      expect(ran.stderr).toContain(variable);
      expect(ran.stderr).not.toContain('/v1/oauth/authorize');
    },
  );

  test('login that lacks several things names every one, each with its option and variable', async () => {
    const ran = await run(['auth', 'login'], { folders });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    for (const { variable, way } of questions.slice(0, 4)) {
      expect(ran.stderr).toContain(way);
      expect(ran.stderr).toContain(variable);
    }
  });

  test('with -o json it is an error object', async () => {
    const ran = await run(['auth', 'setup', '-o', 'json'], { folders });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'usage', exit_code: 2 } });
  });

  test('standard input alone is no terminal to ask on, and its lines are no answers', async () => {
    const ran = await run(['auth', 'setup'], { folders, stdin: 'https://cloud.example.com\n'.repeat(10) });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  });
});

describe.skipIf(lacks('tmux'))('with --no-input a terminal is not asked on either', () => {
  test.for(questions)('setup without $variable is exit 2 at once', async ({ variable, way }) => {
    const env = { ...all, [variable]: undefined };
    const screen = await terminal(['auth', 'setup', '--no-input'], { folders, env, columns: 150 });
    try {
      expect(await screen.ended()).toBe(2);
      expect(await screen.screen()).toMatch(/^error: .*--no-input.*\nhint: .*$/);
      expect(await screen.screen()).toContain(way);
      expect(await screen.screen()).toContain(variable);
    } finally {
      await screen.close();
    }
  });
});
