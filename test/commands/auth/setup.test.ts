import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import { createFileStore, readClientSecret } from '../../../src/auth/session/store.ts';
import { closedOrigin } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, type TestHost, testHost } from '../../fixtures/host.ts';
import { type RunResult, runCloudctl, stableText, startCloudctl } from '../run-cloudctl.ts';

const whole = [
  '--auth-url',
  'https://cloud.example',
  '--base-url',
  'https://api.example/',
  '--client-id',
  'client-1',
  '--callback-url',
  'http://127.0.0.1:8765/callback',
  '--credential-store',
  'file',
];

function setup(host: TestHost, words: readonly string[], stdin?: string) {
  return runCloudctl(host, ['auth', 'setup', ...words], stdin === undefined ? {} : { stdin });
}

async function secretOf(host: TestHost, clientId = 'client-1', authOrigin = 'https://cloud.example') {
  const store = createFileStore(profilePaths(host.folders.state, 'default'));
  return (await readClientSecret(store, { authOrigin, clientId }))?.reveal();
}

/** Runs a command in a terminal and gives each answer once its question is drawn. */
async function answerPrompts(
  base: TestHost,
  words: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
): Promise<RunResult & { readonly drawn: string }> {
  const { host, ended } = startCloudctl(base, words, { terminal: 200, env: { NO_COLOR: '1' } });
  const { screen, stdin } = host;
  if (!(screen instanceof PassThrough) || !(stdin instanceof PassThrough)) throw new Error('not a host of a test');
  let drawn = '';
  screen.on('data', (chunk: Buffer) => {
    drawn += stripVTControlCharacters(chunk.toString());
  });
  let isEnded = false;
  void ended.finally(() => {
    isEnded = true;
  });
  for (const [question, answer] of answers) {
    while (!drawn.includes(question)) {
      if (isEnded) throw new Error(`"${question}" was not drawn, but:\n${drawn}${host.err()}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    stdin.write(`${answer}\r`);
  }
  return { ...(await ended), drawn };
}

describe('auth setup', () => {
  it('writes the profile, and the secret to the credential store alone', async () => {
    const host = testHost();
    const ran = await setup(
      host,
      [...whole, '--client-secret-stdin', '--callback-url', 'http://localhost/cb'],
      'hunter2\n',
    );
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(JSON.parse(readFileSync(join(host.folders.config, 'config.json'), 'utf8'))).toEqual({
      current: 'default',
      profiles: {
        default: {
          auth_url: 'https://cloud.example',
          base_url: 'https://api.example',
          client_id: 'client-1',
          callback_urls: ['http://127.0.0.1:8765/callback', 'http://localhost/cb'],
          credential_store: 'file',
          scope: 'read',
          flow: 'code',
        },
      },
    });
    expect(await secretOf(host)).toBe('hunter2');
    expect(ran.err).not.toContain('hunter2');
  });

  it('takes everything from the environment', async () => {
    const host = testHost({
      env: {
        CLOUDCTL_AUTH_URL: 'https://cloud.example',
        CLOUDCTL_BASE_URL: 'https://api.example',
        CLOUDCTL_CLIENT_ID: 'client-1',
        CLOUDCTL_CLIENT_SECRET: 'hunter2',
        CLOUDCTL_CALLBACK_URL: 'http://127.0.0.1:8765/callback',
        CLOUDCTL_CREDENTIAL_STORE: 'file',
        CLOUDCTL_SCOPE: 'read write',
      },
    });
    expect((await setup(host, ['--profile', 'work', '--no-input'])).code).toBe(0);
    expect(host.readConfig().profiles.get('work')).toMatchObject({ scope: 'read write', client_id: 'client-1' });
    expect(host.readConfig().current).toBe('work');
  });

  it('does not make the format of this run the format of every run', async () => {
    const host = testHost({ env: { CLOUDCTL_OUTPUT: 'json', CLOUDCTL_CLIENT_SECRET: 'x' } });
    await setup(host, whole);
    expect(host.readConfig().profiles.get('default')).not.toHaveProperty('output');
    await runCloudctl(host, ['config', 'set', 'output', 'yaml']);
    await setup(host, whole);
    expect(host.readConfig().profiles.get('default')).toMatchObject({ output: 'yaml' });
  });

  it('does not ask for a secret it has, and keeps it', async () => {
    const host = testHost();
    await setup(host, [...whole, '--client-secret-stdin'], 'hunter2\n');
    expect((await setup(host, ['--scope', 'read write'])).code).toBe(0);
    expect(await secretOf(host)).toBe('hunter2');
    expect(host.readConfig().profiles.get('default')).toMatchObject({ scope: 'read write', client_id: 'client-1' });
  });

  it('never shows the secret of one application to another', async () => {
    const host = testHost();
    await setup(host, [...whole, '--client-secret-stdin'], 'hunter2');
    const ran = await setup(host, ['--client-id', 'client-2']);
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(/client secret/);
    expect(await secretOf(host, 'client-2')).toBeUndefined();
    expect(await secretOf(host, 'client-1', 'https://evil.example')).toBeUndefined();
  });

  it('needs no secret for the implicit flow', async () => {
    const host = testHost();
    expect((await setup(host, [...whole, '--flow', 'implicit'])).code).toBe(0);
    expect(existsSync(profilePaths(host.folders.state, 'default').clientFile)).toBe(false);
  });

  it('keeps another current profile', async () => {
    const host = testHost({ env: { CLOUDCTL_CLIENT_SECRET: 'x' } });
    host.writeConfig({ current: 'home', profiles: { home: {} } });
    await setup(host, ['--profile', 'work', ...whole]);
    expect(host.readConfig().current).toBe('home');
  });

  it.each([
    [whole.slice(2), '--auth-url', 'CLOUDCTL_AUTH_URL'],
    [[...whole.slice(0, 2), ...whole.slice(4)], '--base-url', 'CLOUDCTL_BASE_URL'],
    [[...whole.slice(0, 4), ...whole.slice(6)], '--client-id', 'CLOUDCTL_CLIENT_ID'],
    [[...whole.slice(0, 6), ...whole.slice(8)], '--callback-url', 'CLOUDCTL_CALLBACK_URL'],
    [whole, '--client-secret-stdin', 'CLOUDCTL_CLIENT_SECRET'],
  ])('without a terminal names what is missing, option and variable: %#', async (words, option, variable) => {
    const host = testHost();
    for (const more of [[], ['--no-input']]) {
      const ran = await setup(host, [...words, ...more]);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(ran.err).toContain(option);
      expect(ran.err).toContain(variable);
    }
    expect(host.readConfig().profiles.size).toBe(0);
  });

  it.each([
    [[...whole, '--client-secret-stdin'], ''],
    [[...whole, '--client-secret-stdin'], 'two words'],
    [[...whole, '--scope', 'admin'], 'x'],
    [[...whole, '--callback-url', 'https://evil.example/'], 'x'],
    [[...whole, '--callback-url', 'http://127.0.0.1:22/'], 'x'],
    [['--auth-url', 'http://cloud.example'], 'x'],
    [['--issuer', 'a b'], 'x'],
  ])('refuses a wrong value: %#', async (words, stdin) => {
    const host = testHost();
    const ran = await setup(host, words, stdin);
    expect(ran.code).toBe(2);
    expectGolden('auth', stableText(ran));
    expect(host.readConfig().profiles.size).toBe(0);
  });

  it('does not read a secret from a terminal in the clear', async () => {
    const host = testHost();
    const ran = await runCloudctl(host, ['auth', 'setup', ...whole, '--client-secret-stdin'], { terminal: 80 });
    expect(ran.code).toBe(2);
    expectGolden('auth', stableText(ran).replace(/\u001b\[\d+m/g, ''));
  });

  it('writes no profile when the keychain does not take the secret', async () => {
    const host = testHost({
      keychain: memoryKeychain(new Map(), () => 'locked'),
      env: { CLOUDCTL_CLIENT_SECRET: 'x' },
    });
    const ran = await setup(host, [...whole.slice(0, 8), '-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable', exit_code: 1 });
    expect(host.readConfig().profiles.size).toBe(0);
  });
});

describe('a public client, which has no secret', () => {
  const asPublic = [...whole, '--scope', 'read', '--token-params'];

  it('is set up without a prompt with --token-params body', async () => {
    const host = testHost();
    const ran = await setup(host, [...asPublic, 'body', '--no-input']);
    expect(ran.code).toBe(0);
    expect(host.readConfig().profiles.get('default')).toMatchObject({ client_id: 'client-1', token_params: 'body' });
    expect(existsSync(profilePaths(host.folders.state, 'default').clientFile)).toBe(false);
    expectGolden('auth', stableText(ran));
  });

  it('is set up by an empty answer', async () => {
    const host = testHost();
    const ran = await answerPrompts(host, ['auth', 'setup', ...asPublic, 'body'], [['Client secret', '']]);
    expect(ran.code).toBe(0);
    expect(host.readConfig().profiles.get('default')).toMatchObject({ token_params: 'body' });
    expect(existsSync(profilePaths(host.folders.state, 'default').clientFile)).toBe(false);
    expectGolden('auth', ran.drawn.match(/Client secret \([^)]*\)/)?.[0] ?? '', 'question');
    expectGolden('auth', stableText(ran), 'report');
  });

  it('is set up by an empty answer at the first login too', async () => {
    const origin = await closedOrigin();
    const host = testHost({
      env: {
        CLOUDCTL_AUTH_URL: origin,
        CLOUDCTL_BASE_URL: origin,
        CLOUDCTL_CALLBACK_URL: 'http://127.0.0.1:0/callback',
        CLOUDCTL_CREDENTIAL_STORE: 'file',
        CLOUDCTL_SCOPE: 'read',
      },
    });
    const ran = await answerPrompts(
      host,
      ['auth', 'login', '--token-params', 'body', '-o', 'json'],
      [
        ['Client ID', 'client-1'],
        ['Client secret', ''],
      ],
    );
    expect(ran.error()).toMatchObject({ code: 'unreachable' });
    expect(host.readConfig().profiles.get('default')).toMatchObject({ client_id: 'client-1', token_params: 'body' });
    expect(existsSync(profilePaths(host.folders.state, 'default').clientFile)).toBe(false);
  });

  it('may have a secret nevertheless, which an empty answer keeps afterwards', async () => {
    const host = testHost();
    const words = ['auth', 'setup', ...asPublic, 'body'];
    expect((await answerPrompts(host, words, [['Client secret', 'hunter2']])).code).toBe(0);
    expect(await secretOf(host)).toBe('hunter2');
    const ran = await answerPrompts(host, words, [['Client secret', '']]);
    expect(ran.code).toBe(0);
    expect(await secretOf(host)).toBe('hunter2');
    expectGolden('auth', stableText(ran));
  });

  it.each([[[]], [['--token-params', 'query']], [['--token-params', 'basic']]])(
    'is refused where a secret is required: %j',
    async (more) => {
      const host = testHost();
      expect((await setup(host, [...whole, ...more, '--no-input'])).code).toBe(2);
      const answers = [
        ['Client secret', ''],
        ['512', 'hunter2'],
      ] as const;
      const ran = await answerPrompts(host, ['auth', 'setup', ...whole, '--scope', 'read', ...more], answers);
      expect(ran.code).toBe(0);
      expect(await secretOf(host)).toBe('hunter2');
    },
  );
});

describe('the wizard', () => {
  it('takes Enter instead of a client ID for a profile with a token only', async () => {
    const host = testHost();
    const ran = await answerPrompts(
      host,
      ['auth', 'setup', '--credential-store', 'file'],
      [
        ['authorization server', 'https://cloud.example'],
        ['resource API', 'https://api.example'],
        ['Client ID', ''],
      ],
    );
    expect(ran.code).toBe(0);
    expectGolden('auth', ran.drawn.match(/Client ID [^)]*\)/)?.[0] ?? '', 'question');
    expect(host.readConfig().profiles.get('default')).toEqual({
      auth_url: 'https://cloud.example',
      base_url: 'https://api.example',
      credential_store: 'file',
    });
  });

  it('offers a second account the values of the current profile, and its client secret', async () => {
    const host = testHost();
    const first = ['--client-secret-stdin', '--scope', 'read write', '--issuer', 'https://cloud.example'];
    expect((await setup(host, [...whole, ...first], 'hunter2')).code).toBe(0);
    const ran = await answerPrompts(
      host,
      ['auth', 'setup', '--profile', 'second'],
      [
        ['authorization server', ''],
        ['resource API', ''],
        ['Client ID', ''],
        ['Callback URL', ''],
        ['Scope', ''],
        ['Client secret', ''],
      ],
    );
    expect(ran.code).toBe(0);
    const { profiles, current } = host.readConfig();
    expect(profiles.get('second')).toEqual(profiles.get('default'));
    expect(current).toBe('default');
    const store = createFileStore(profilePaths(host.folders.state, 'second'));
    const binding = { authOrigin: 'https://cloud.example', clientId: 'client-1' };
    expect((await readClientSecret(store, binding))?.reveal()).toBe('hunter2');
    expect(ran.drawn + ran.err).not.toContain('hunter2');
    expectGolden('auth', ran.drawn.match(/Client secret \([^)]*\)/)?.[0] ?? '', 'question');
  });

  it('gives the client secret of another profile to no other application', async () => {
    const host = testHost();
    expect((await setup(host, [...whole, '--client-secret-stdin'], 'hunter2')).code).toBe(0);
    const ran = await answerPrompts(
      host,
      ['auth', 'setup', '--profile', 'second', '--auth-url', 'https://other.example', '--scope', 'read'],
      [
        ['resource API', ''],
        ['Client ID', ''],
        ['Callback URL', ''],
        ['Client secret (hidden)', 'another'],
      ],
    );
    expect(ran.code).toBe(0);
    const store = createFileStore(profilePaths(host.folders.state, 'second'));
    const binding = { authOrigin: 'https://other.example', clientId: 'client-1' };
    expect((await readClientSecret(store, binding))?.reveal()).toBe('another');
  });

  const urls = ['--auth-url', 'https://cloud.example', '--base-url', 'https://api.example'];

  it('offers the file store where there is no keychain', async () => {
    const host = testHost({ keychain: memoryKeychain(new Map(), () => 'missing') });
    const ran = await answerPrompts(
      host,
      ['auth', 'setup', ...urls],
      [
        ['no keychain', 'y'],
        ['Client ID', ''],
      ],
    );
    expect(ran.code).toBe(0);
    expect(host.readConfig().profiles.get('default')).toMatchObject({ credential_store: 'file' });
    expectGolden('auth', ran.drawn.match(/This machine[^?]*\?/)?.[0] ?? '', 'question');
  });

  it.each(['missing', 'locked'] as const)('stores nothing if the keychain is %s and no file is wanted', async (why) => {
    const host = testHost({ keychain: memoryKeychain(new Map(), () => why) });
    const answers = why === 'missing' ? ([['no keychain', 'n']] as const) : [];
    const ran = await answerPrompts(host, ['auth', 'setup', ...urls, '-o', 'json'], answers);
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable' });
    expect(host.readConfig().profiles.size).toBe(0);
  });

  it('does not choose the file store without a terminal', async () => {
    const host = testHost({ keychain: memoryKeychain(new Map(), () => 'missing') });
    const ran = await setup(host, [...whole.slice(0, 8), '--client-secret-stdin', '-o', 'json'], 'hunter2');
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable' });
  });
});
