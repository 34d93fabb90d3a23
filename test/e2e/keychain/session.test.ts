import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { start } from '../../fixtures/cli.ts';
import { type ProcessInfo, processesOf } from '../../fixtures/processes.ts';
import { type KeychainFixture, makeKeychainFixture, noKeyring, recordOf, setUp } from './keychain-fixture.ts';

interface Status {
  readonly email: string;
  readonly store: string;
  readonly store_place: string;
  readonly state: string;
}

describe.skipIf(noKeyring)('a session in the keychain', () => {
  let fixture: KeychainFixture;
  beforeEach(async () => {
    fixture = await makeKeychainFixture();
  });
  afterEach(() => fixture.close());

  const signIn = async (): Promise<void> => {
    expect((await setUp(fixture)).code).toBe(0);
    expect((await fixture.logIn()).code).toBe(0);
  };

  /** The only account of cloudctl's that begins with this. */
  const accountOf = async (profile: string): Promise<string> => {
    const accounts = [...(await fixture.items()).keys()].filter((account) => /^[^:]*$/.test(account));
    const [account = '', ...others] = accounts.filter((name) => name.startsWith(`${profile}#`));
    expect(others).toEqual([]);
    return account;
  };

  test('setup keeps the client secret in the keychain, and in no file', async () => {
    const ran = await setUp(fixture);
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(ran.stderr).toContain('keychain');
    const [[account = '', value = ''] = []] = await fixture.items();
    expect(account).toMatch(/^default#[\w-]{8}:client$/);
    expect(JSON.parse(value)).toMatchObject({ client_secret: fixture.sandbox.client_secret });
    expect(filesWith(fixture, fixture.sandbox.client_secret)).toEqual([]);
  });

  test('login takes the secret from there and keeps the session there, and in no file', async () => {
    await setUp(fixture);
    const ran = await fixture.logIn();
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(ran.stderr).toMatch(/Maya Lindqvist/);
    expect(ran.stderr).toMatch(/keychain/i);
    const record = recordOf((await fixture.items()).get(await accountOf('default')));
    expect(record).toMatchObject({ gen: 1, auth_origin: fixture.sandbox.auth_url });
    expect(filesWith(fixture, record.access_token)).toEqual([]);
    expect(filesWith(fixture, record.refresh_token)).toEqual([]);
  });

  test('auth status names the keychain, and the item another program finds there', async () => {
    await signIn();
    const ran = await fixture.run(['auth', 'status', '-o', 'json']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const account = await accountOf('default');
    expect(ran.json<Status>()).toMatchObject({
      email: 'maya@example.com',
      store: 'keychain',
      store_place: `Secret Service, service cloudctl, account ${account}`,
      state: 'valid',
    });
    const table = await fixture.run(['auth', 'status']);
    expect(table.stdout).toContain(`account ${account}`);
    expect(table.stdout).not.toContain(recordOf((await fixture.items()).get(account)).access_token);
  });

  test('another process reads it back: the token, and a call with it', async () => {
    await signIn();
    const record = recordOf((await fixture.items()).get(await accountOf('default')));
    expect(await fixture.run(['auth', 'token'])).toMatchObject({
      code: 0,
      stdout: `${record.access_token}\n`,
      stderr: '',
    });
    const actions = await fixture.run(['actions', 'list', '-o', 'json']);
    expect(actions.code).toBe(0);
    expect(actions.json<readonly unknown[]>().length).toBeGreaterThan(0);
  });

  test('it outlives the keychain service', async () => {
    await signIn();
    const before = await fixture.run(['auth', 'token']);
    await fixture.service.restart();
    expect(await fixture.run(['auth', 'token'])).toMatchObject({ code: 0, stdout: before.stdout });
    expect((await fixture.run(['actions', 'list'])).code).toBe(0);
  });

  test('a refresh replaces the item, and the next process reads the new one', async () => {
    await signIn();
    const account = await accountOf('default');
    const before = recordOf((await fixture.items()).get(account));
    expect((await fixture.run(['auth', 'refresh'])).code).toBe(0);
    const after = recordOf((await fixture.items()).get(account));
    expect(after).toMatchObject({ sid: before.sid, gen: before.gen + 1 });
    expect(after.access_token).not.toBe(before.access_token);
    expect(after.refresh_token).not.toBe(before.refresh_token);
    expect((await fixture.run(['auth', 'token'])).stdout).toBe(`${after.access_token}\n`);
    expect((await fixture.run(['actions', 'list'])).code).toBe(0);
  });

  test('two profiles are two items side by side, and logging out of one leaves the other', async () => {
    await signIn();
    expect((await setUp(fixture, ['--profile', 'second'])).code).toBe(0);
    expect((await fixture.logIn(['--profile', 'second', '--scope', 'read write'])).code).toBe(0);
    const [first, second] = [await accountOf('default'), await accountOf('second')];
    const tokens = await Promise.all([
      fixture.run(['auth', 'token']),
      fixture.run(['auth', 'token', '--profile', 'second']),
    ]);
    const items = await fixture.items();
    expect(tokens.map(({ stdout }) => stdout.trim())).toEqual(
      [first, second].map((account) => recordOf(items.get(account)).access_token),
    );
    expect((await fixture.run(['auth', 'logout', '--profile', 'second'])).code).toBe(0);
    const left = [...(await fixture.items()).keys()];
    expect(left).toContain(first);
    expect(left).not.toContain(second);
    expect((await fixture.run(['auth', 'token'])).code).toBe(0);
    expect(await fixture.run(['auth', 'token', '--profile', 'second'])).toMatchObject({ code: 4, stdout: '' });
  });

  test('another state folder is another item: its locks could not keep two refreshes apart', async () => {
    await signIn();
    const elsewhere = { env: { CLOUDCTL_STATE_DIR: join(fixture.folders.home, 'other-state') } };
    const first = await accountOf('default');
    expect(await fixture.run(['auth', 'token'], elsewhere)).toMatchObject({ code: 4, stdout: '' });
    expect((await setUp(fixture, [], elsewhere)).code).toBe(0);
    expect((await fixture.logIn([], elsewhere)).code).toBe(0);
    const sessions = [...(await fixture.items()).keys()].filter((account) => /^default#[^:]+$/.test(account));
    expect(sessions).toHaveLength(2);
    const [mine, other] = [await fixture.run(['auth', 'token']), await fixture.run(['auth', 'token'], elsewhere)];
    expect([mine.code, other.code]).toEqual([0, 0]);
    expect(mine.stdout).not.toBe(other.stdout);
    expect((await fixture.run(['auth', 'logout'], elsewhere)).code).toBe(0);
    expect(await accountOf('default')).toBe(first);
    expect((await fixture.run(['auth', 'token'])).stdout).toBe(mine.stdout);
  });

  test('no secret is in the arguments or the environment of the helper, nor of any other process', async () => {
    await signIn();
    const watching = new AbortController();
    const seen = watch(fixture, watching.signal);
    const secrets = [fixture.sandbox.client_secret];
    const note = async (): Promise<void> => {
      const record = recordOf((await fixture.items()).get(await accountOf('default')));
      secrets.push(record.access_token, record.refresh_token);
    };
    await note();
    expect((await fixture.run(['auth', 'refresh'])).code).toBe(0);
    await note();
    expect((await fixture.logIn(['--force'])).code).toBe(0);
    await note();
    // A helper that waits for its answer holds the secret it is to write, and is there long enough to be looked at.
    fixture.service.pause();
    const words = ['auth', 'setup', '--client-secret-stdin', '--no-input'];
    const writing = start(words, { folders: fixture.folders, env: fixture.env });
    writing.child.stdin?.end(`${fixture.sandbox.client_secret}\n`);
    await writing.ended;
    fixture.service.resume();
    watching.abort();
    const processes = await seen;
    expect(processes.filter(({ argv }) => argv.some((word) => word.endsWith('keychain.cjs'))).length).toBeGreaterThan(
      2,
    );
    for (const secret of secrets) {
      expect(secret).toMatch(/^\S{20,}$/);
      expect(
        processes.filter((one) => [...one.argv, ...one.environment].some((text) => text.includes(secret))),
      ).toEqual([]);
      expect(filesWith(fixture, secret)).toEqual([]);
    }
  });

  test('logout takes the item out of the keychain, and the server refuses its token', async () => {
    await signIn();
    const account = await accountOf('default');
    const { stdout: token } = await fixture.run(['auth', 'token']);
    const ran = await fixture.run(['auth', 'logout']);
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(ran.stderr).toContain('revoked');
    expect([...(await fixture.items()).keys()]).not.toContain(account);
    const fixed = await fixture.run(['actions', 'list'], { env: { CLOUDCTL_ACCESS_TOKEN: token.trim() } });
    expect(fixed).toMatchObject({ code: 4, stdout: '' });
    for (const words of [
      ['auth', 'token'],
      ['auth', 'status'],
      ['actions', 'list'],
      ['auth', 'refresh'],
    ]) {
      const after = await fixture.run([...words, '-o', 'json']);
      expect(after).toMatchObject({ code: 4, stdout: '' });
      expect(JSON.parse(after.stderr)).toMatchObject({ error: { code: 'not_logged_in' } });
    }
  });
});

/** The person's files that hold this text. */
function filesWith(fixture: KeychainFixture, text: string): readonly string[] {
  return readdirSync(fixture.folders.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}

/** Every process of the person that lives at some moment until the signal. */
async function watch(fixture: KeychainFixture, signal: AbortSignal): Promise<readonly ProcessInfo[]> {
  const seen = new Map<number, ProcessInfo>();
  while (!signal.aborted) {
    for (const one of processesOf(fixture.folders)) seen.set(one.pid, one);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return [...seen.values()];
}
