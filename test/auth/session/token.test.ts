import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { journalPath, keychainAccount, profilePaths } from '../../../src/auth/session/paths.ts';
import { encodeRecord, unknownExpiry } from '../../../src/auth/session/record.ts';
import { createFileStore } from '../../../src/auth/session/store.ts';
import { runCliCommandLine } from '../../../src/main.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { startServers } from '../../../src/sandbox/sandbox.ts';
import { environment } from '../../fixtures/folders.ts';
import { memoryKeychain, type TestHost, testHost } from '../../fixtures/host.ts';
import { type Seeded, seedSession } from '../../fixtures/session.ts';
import { type Bundle, bundleProgram } from '../../platform/bundle.ts';

let program: Bundle;
let sandbox: SandboxServers;
beforeAll(async () => {
  const text = `import { readTokenFast } from './src/auth/session/token.ts';
    readTokenFast(process.argv.slice(2), process.env, process.platform, Date.now())
      .then((token) => process.stdout.write(token === undefined ? 'left to the program' : token.reveal()));`;
  program = await bundleProgram({ text }, 'cjs');
  sandbox = await startServers();
});
afterAll(async () => {
  program.remove();
  await sandbox.close();
});

/** Over a pipe, where no terminal is. */
function fast(host: TestHost, words: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  return execFileSync(process.execPath, [program.script, ...words], {
    env: environment(host.place, { ...host.env, ...env }),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 10_000,
  });
}

const left = 'left to the program';
const now = () => Math.floor(Date.now() / 1000);

describe('the fast answer of auth token', () => {
  it('is what the program prints', async () => {
    const host = testHost();
    const { grant } = await seedSession(host, sandbox);
    const slow = testHost({ beside: host });
    expect(await runCliCommandLine(['auth', 'token'], slow)).toBe(0);
    expect(`${fast(host, ['auth', 'token'])}\n`).toBe(slow.out());
    expect(slow.out()).toBe(`${grant.access_token}\n`);
  });

  it('is also the token of a login with a token', async () => {
    const host = testHost();
    const { grant, record, place } = await seedSession(host, sandbox);
    const { refreshToken: _none, ...rest } = record;
    const given = encodeRecord({ ...rest, expiresAt: unknownExpiry, scope: '', isGivenToken: true });
    await createFileStore(place).withItems((items) => items.write('credential', given));
    expect(fast(host, ['auth', 'token'])).toBe(grant.access_token);
  });

  it('knows profiles by option, variable and config', async () => {
    const host = testHost();
    const { grant } = await seedSession(host, sandbox, { profile: 'work' });
    expect(fast(host, ['auth', 'token'])).toBe(left);
    expect(fast(host, ['auth', 'token', '--profile', 'work'])).toBe(grant.access_token);
    expect(fast(host, ['auth', 'token'], { CLOUDCTL_PROFILE: 'work' })).toBe(grant.access_token);
    expect(fast(host, ['--profile', 'work', 'auth', 'token'])).toBe(grant.access_token);
    expect(fast(host, ['auth', '--profile=work', 'token'])).toBe(grant.access_token);
    expect(fast(host, ['--profile', 'nope', 'auth', 'token', '--profile', 'work'])).toBe(grant.access_token);
    expect(fast(host, ['--profile', 'auth', 'token'])).toBe(left);
    expect(fast(host, ['--profile=work', 'auth', 'token', '--profile'])).toBe(left);
    host.writeConfig({ ...host.readConfig().raw, current: 'work' });
    expect(fast(host, ['auth', 'token'])).toBe(grant.access_token);
  });

  it('leaves a profile with token_command to the program, also if a session is stored', async () => {
    const host = testHost();
    await seedSession(host, sandbox, { values: { token_command: ['true'] } });
    expect(fast(host, ['auth', 'token'])).toBe(left);
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ['other words', ['auth', 'token', '-o', 'json'], {}],
    ['a longer line', ['auth', 'token', '--profile', 'default', '-q'], {}],
    ['another command', ['auth', 'status'], {}],
    ['a token of the environment', ['auth', 'token'], { CLOUDCTL_ACCESS_TOKEN: 'x' }],
    ['another resource API', ['auth', 'token'], { CLOUDCTL_BASE_URL: 'https://evil.example' }],
    ['another client id', ['auth', 'token'], { CLOUDCTL_CLIENT_ID: 'other' }],
    ['a wrong value', ['auth', 'token'], { CLOUDCTL_FLOW: 'magic' }],
    ['a profile that is unknown', ['auth', 'token', '--profile', 'nope'], {}],
    ['a profile name that is none', ['auth', 'token', '--profile', '../default'], {}],
  ])('leaves %s to the program', async (_what, words, env) => {
    const host = testHost();
    await seedSession(host, sandbox);
    expect(fast(host, words, env)).toBe(left);
  });

  it.each<[string, (host: TestHost, seeded: Seeded) => void]>([
    ['a damaged config', (host) => host.writeConfig('{')],
    ['a damaged record', (_host, { place }) => writeFileSync(place.credentialFile, '{')],
    ['a record of a newer version', (_host, { place }) => writeFileSync(place.credentialFile, '{"v":2}')],
  ])('leaves %s to the program', async (_what, damage) => {
    const host = testHost();
    damage(host, await seedSession(host, sandbox));
    expect(fast(host, ['auth', 'token'])).toBe(left);
  });

  it('leaves a token with five minutes or less to the program, which renews it', async () => {
    const host = testHost();
    await seedSession(host, sandbox, { record: { expiresAt: now() + 299, obtainedAt: now() - 3600 } });
    expect(fast(host, ['auth', 'token'])).toBe(left);
    const { grant } = await seedSession(host, sandbox, {
      record: { expiresAt: now() + 330, obtainedAt: now() - 3600 },
    });
    expect(fast(host, ['auth', 'token'])).toBe(grant.access_token);
  });

  it('leaves a token whose whole lifetime is short to the program only in the last fifth of that time', async () => {
    const host = testHost();
    const { grant } = await seedSession(host, sandbox, { record: { expiresAt: now() + 200, obtainedAt: now() - 100 } });
    expect(fast(host, ['auth', 'token'])).toBe(grant.access_token);
    await seedSession(host, sandbox, { record: { expiresAt: now() + 50, obtainedAt: now() - 250 } });
    expect(fast(host, ['auth', 'token'])).toBe(left);
  });

  it('leaves a profile whose last refresh was interrupted to the program', async () => {
    const host = testHost();
    const { place, record, grant } = await seedSession(host, sandbox);
    writeFileSync(journalPath(place, record.sid), '', { mode: 0o600 });
    expect(fast(host, ['auth', 'token'])).toBe(left);
    const slow = testHost({ beside: host });
    expect(await runCliCommandLine(['auth', 'token'], slow)).toBe(0);
    expect(slow.out()).toBe(`${grant.access_token}\n`);
  });

  it.each(['default.credential.json', 'default.probe'])(
    'is not kept from answering by a temporary file, which contains no refresh: .%s.4711.1.tmp',
    async (name) => {
      const host = testHost();
      const { place, grant } = await seedSession(host, sandbox);
      writeFileSync(join(place.folder, `.${name}.4711.1.tmp`), '', { mode: 0o600 });
      expect(fast(host, ['auth', 'token'])).toBe(grant.access_token);
    },
  );

  it("is not kept from answering by another profile's refresh", async () => {
    const host = testHost();
    const { place, grant } = await seedSession(host, sandbox);
    writeFileSync(join(place.folder, 'work.0123456789abcdef.wal'), '');
    writeFileSync(join(place.folder, 'default-2.0123456789abcdef.wal'), '');
    expect(fast(host, ['auth', 'token'])).toBe(grant.access_token);
  });

  it('leaves a keychain nobody answers for to the program', async () => {
    const host = testHost({ keychain: memoryKeychain() });
    await seedSession(host, sandbox, { values: { credential_store: 'keychain' } });
    expect(fast(host, ['auth', 'token'])).toBe(left);
    keychainAccount(profilePaths(host.folders.state, 'default'), host.random);
    expect(fast(host, ['auth', 'token'])).toBe(left);
  });
});
