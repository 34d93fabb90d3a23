import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Environment } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { lacks } from '../../fixtures/needs.ts';
import { processesOf } from '../../fixtures/processes.ts';
import { terminal } from '../../fixtures/terminal.ts';
import { type KeychainFixture, makeKeychainFixture, noKeyring, openUnlockWindow, setUp } from './keychain-fixture.ts';

/** One way in which a keychain cannot be used. */
interface Trouble {
  readonly name: string;
  /** Found in the error message; the golden file has the whole text. */
  readonly reason: RegExp;
  readonly env?: Environment;
  begin(fixture: KeychainFixture): Promise<void>;
  end(fixture: KeychainFixture): Promise<void>;
}

const nothing = async (): Promise<void> => {};
const none = /keychain.*\bnone\b/;
const late = /keychain.*\btime\b/;

let closeWindow = (): void => {};

const troubles: readonly Trouble[] = [
  {
    name: 'locked',
    reason: /keychain.*\blocked\b/,
    begin: ({ service }) => service.lock(),
    end: ({ service }) => service.restart(),
  },
  {
    name: 'absent, without a session bus',
    reason: none,
    env: { DBUS_SESSION_BUS_ADDRESS: undefined },
    begin: nothing,
    end: nothing,
  },
  {
    name: 'absent, with the address of a bus that is gone',
    reason: none,
    env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus' },
    begin: nothing,
    end: nothing,
  },
  {
    name: 'absent, with a bus that has no Secret Service',
    reason: none,
    begin: ({ service }) => service.end(),
    end: ({ service }) => service.restart(),
  },
  {
    name: 'waiting for somebody to unlock it',
    reason: late,
    begin: async ({ service }) => {
      closeWindow = await openUnlockWindow(service);
      await service.lock();
    },
    end: async ({ service }) => {
      closeWindow();
      await service.restart();
    },
  },
  {
    name: 'hung',
    reason: late,
    begin: async ({ service }) => service.pause(),
    end: async ({ service }) => service.resume(),
  },
];

const commands: readonly string[] = [
  'auth token',
  'auth token --profile default',
  'auth status',
  'auth refresh',
  'actions list',
  'auth login --no-browser',
  'auth logout',
  'auth logout --local',
];

describe.skipIf(noKeyring)('a keychain that cannot be used', () => {
  let fixture: KeychainFixture;
  let accessToken: string;
  beforeAll(async () => {
    fixture = await makeKeychainFixture();
    expect((await setUp(fixture)).code).toBe(0);
    expect((await fixture.logIn()).code).toBe(0);
    accessToken = (await fixture.run(['auth', 'token'])).stdout;
  });
  afterAll(() => fixture.close());

  for (const trouble of troubles) {
    const more = { env: trouble.env ?? {}, limit: 15_000 };

    // Side by side only where each waits: a GNOME keyring that has to refuse many prompts at once may hang for good.
    const each = trouble.reason === late ? test.concurrent : test;

    describe(trouble.name, () => {
      beforeAll(() => trouble.begin(fixture));
      afterAll(() => trouble.end(fixture));

      each.for(commands)('%s ends in time with its own message, and never reads as logged out', async (words) => {
        const mark = `RUN=${words}`;
        const started = performance.now();
        const ran = await fixture.run(words.split(' '), { ...more, env: { ...more.env, RUN: words } });
        expect(performance.now() - started).toBeLessThan(15_000);
        expect(ran).toMatchObject({ code: 1, signal: null, stdout: '' });
        const [first, ...parts] = ran.stderr.trimEnd().split('\n');
        expect(first).toMatch(/^error: /);
        expect(first).toMatch(trouble.reason);
        expect(parts.at(-1)).toMatch(/^hint: /);
        expect(ran.stderr).not.toMatch(/logged in|v1\/oauth|^waiting\b/m);
        expect(processesOf(fixture.folders).filter(({ environment }) => environment.includes(mark))).toEqual([]);
      });

      each('with -o json the error is one object with the code keychain_unavailable', async () => {
        const ran = await fixture.run(['auth', 'status', '-o', 'json'], more);
        expect(ran).toMatchObject({ code: 1, stdout: '' });
        expect(JSON.parse(ran.stderr)).toMatchObject({
          error: { code: 'keychain_unavailable', message: expect.stringMatching(trouble.reason), exit_code: 1 },
        });
      });

      each('a login fails before anybody is sent to the browser, though the secret is in a variable', async () => {
        const env = { ...more.env, CLOUDCTL_CLIENT_SECRET: fixture.sandbox.client_secret };
        const ran = await fixture.run(['auth', 'login', '--no-browser'], { ...more, env });
        expect(ran).toMatchObject({ code: 1, stdout: '' });
        expect(ran.stderr).toMatch(trouble.reason);
        expect(ran.stderr).not.toContain('v1/oauth/authorize');
      });

      each('setup fails and writes no profile', async () => {
        const ran = await setUp(fixture, ['--profile', 'new'], more);
        expect(ran).toMatchObject({ code: 1, stdout: '' });
        expect(ran.stderr).toMatch(trouble.reason);
        const known = await fixture.run(['auth', 'list', '-o', 'json'], { env: { CLOUDCTL_CREDENTIAL_STORE: 'file' } });
        expect(known.json<readonly object[]>().map((row) => Object.values(row)[0])).toEqual(['default']);
      });

      test('the error names the reason and what to do', async () => {
        expectGolden('auth', (await fixture.run(['auth', 'status'], more)).stderr);
      });

      each('auth list shows the state as unknown', async () => {
        const ran = await fixture.run(['auth', 'list', '-o', 'json'], more);
        expect(ran.code).toBe(0);
        expect(ran.json()).toMatchObject([{ profile: 'default', state: 'unknown' }]);
      });

      each('CLOUDCTL_ACCESS_TOKEN does without it', async () => {
        const env = { ...more.env, CLOUDCTL_ACCESS_TOKEN: accessToken.trim() };
        expect(await fixture.run(['actions', 'list'], { ...more, env })).toMatchObject({ code: 0, stderr: '' });
      });
    });

    test(`${trouble.name}: afterwards the session is there as before`, async () => {
      expect(await fixture.run(['auth', 'token'])).toMatchObject({ code: 0, stdout: accessToken, stderr: '' });
    });
  }

  describe.skipIf(lacks('tmux'))('on a terminal', () => {
    const waiting = /waiting.*keychain.*/;

    test('a second is waited before it is said, and the command goes on once the keychain answers', async () => {
      fixture.service.pause();
      const screen = await terminal(['auth', 'status'], { folders: fixture.folders, env: fixture.env, columns: 200 });
      try {
        const started = performance.now();
        await screen.waitFor(waiting);
        expect(performance.now() - started).toBeGreaterThan(700);
        fixture.service.resume();
        expect(await screen.ended()).toBe(0);
        expect(await screen.screen()).toMatch(/maya@example\.com/);
        expect((await screen.screen()).split(waiting)).toHaveLength(2);
      } finally {
        fixture.service.resume();
        await screen.close();
      }
    });

    test.for(['auth token', 'actions list'])(
      '%s waits longer for a person than for a script, and Ctrl-C ends it at once, leaving no process behind',
      async (words) => {
        closeWindow = await openUnlockWindow(fixture.service);
        await fixture.service.lock();
        const screen = await terminal(words.split(' '), { folders: fixture.folders, env: fixture.env });
        try {
          await screen.waitFor(waiting);
          await sleep(3500);
          expect((await screen.screen()).replace(waiting, '')).toBe('');
          await screen.press('C-c');
          expect(await screen.ended(1500)).toBe(130);
          await screen.close();
          await sleep(100);
          expect(processesOf(fixture.folders)).toEqual([]);
        } finally {
          await screen.close();
          closeWindow();
          await fixture.service.restart();
        }
      },
    );
  });
});
