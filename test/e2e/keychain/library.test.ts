import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LibrarySession, startLibrarySession } from '../../fixtures/library-session.ts';
import { type SecretService, startSecretService } from '../../fixtures/secret-service.ts';
import { noKeyring } from './keychain-fixture.ts';

describe.skipIf(noKeyring)('createKeychainTokenStore of the package', () => {
  let service: SecretService;
  let session: LibrarySession;
  beforeEach(async () => {
    service = await startSecretService();
    const store = ({ work }: { readonly work: string }) => ({
      service: 'somebody else',
      account: 'maya',
      folder: work,
    });
    const { DBUS_SESSION_BUS_ADDRESS } = service.env;
    session = await startLibrarySession(store, { DBUS_SESSION_BUS_ADDRESS });
  });
  afterEach(async () => {
    await session.stop();
    await service.stop();
  });

  test('keeps the session in the Secret Service under the name of the other program, and in no file', async () => {
    const token = await session.logIn();
    expect(JSON.parse(item() ?? '')).toMatchObject({ generation: 1, accessToken: token });
    expect((await session.run()).stdout).toBe(`${token}\n`);
    expect(filesWith(token)).toEqual([]);
    expect((await session.run(undefined, { REMOVE: '1' })).stdout).toBe('');
    expect(item()).toBeUndefined();
    expect((await session.run()).stdout).toBe('LoginRequiredError\n');
  });

  test('is refreshed once by many processes', async () => {
    const token = await session.logIn();
    const printed = await Promise.all(Array.from({ length: 6 }, () => session.run(token)));
    const tokens = new Set(printed.map(({ stdout }) => stdout.trim()));
    expect(tokens.size).toBe(1);
    expect(session.sandbox.tokens.state([...tokens][0] ?? '')).toBe('valid');
    expect(session.refreshes()).toBe(1);
  });

  test.each(['before the request', 'before the commit', 'after the commit'])(
    'survives 6 kills of a process %s',
    async (step) => {
      let token = await session.logIn();
      for (let round = 1; round <= 6; round++) {
        expect((await session.run(token, { KILL_AT: step })).signal).toBe('SIGKILL');
        token = (await session.run(token)).stdout.trim();
        expect(session.sandbox.tokens.state(token)).toBe('valid');
        expect(filesWith(token)).toEqual([]);
        expect(session.refreshes()).toBe(round);
      }
    },
  );

  test('a locked and an absent keychain are errors, and no request is sent', async () => {
    const token = await session.logIn();
    await service.lock();
    expect((await session.run(token)).stdout).toBe('locked\n');
    await service.end();
    expect((await session.run(token)).stdout).toMatch(/^(missing|failed)\n$/);
    expect(session.refreshes()).toBe(0);
    await service.restart();
    expect((await session.run()).stdout).toBe(`${token}\n`);
  });

  /** The item, as another program reads it. */
  function item(): string | undefined {
    const words = ['lookup', 'service', 'somebody else', 'username', 'maya'];
    try {
      return execFileSync('secret-tool', words, { env: service.env, encoding: 'utf8', stdio: 'pipe' });
    } catch {
      return undefined;
    }
  }

  function filesWith(text: string): readonly string[] {
    return readdirSync(session.folders.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => readFileSync(path).includes(text));
  }
});
