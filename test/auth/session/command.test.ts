import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { describe, expect, it, test, vi } from 'vitest';
import { openCommand } from '../../../src/auth/session/command.ts';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import { resolveSettings } from '../../../src/config/settings.ts';
import type { ProcessEnvironment } from '../../../src/platform/host.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';

const base_url = 'https://api.example.com';

/** A session whose program is this shell script; `$1` is a folder of the test. */
function sessionOf(script: string, options: { env?: ProcessEnvironment; limit?: number; host?: TestHost } = {}) {
  const host = options.host ?? testHost({ env: { PATH: process.env.PATH, ...options.env } });
  return openSession(host, ['/bin/sh', '-c', script, 'program', host.place.work], options.limit);
}

function openSession(host: TestHost, token_command: readonly string[], limit?: number) {
  host.writeConfig({ profiles: { default: { base_url, token_command } } });
  const settings = resolveSettings({ env: host.env, config: host.readConfig() });
  return { host, session: openCommand(host, settings, limit) };
}

async function rejection(work: Promise<unknown>): Promise<CliError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CliError)) throw new Error('it did not fail with a CliError', { cause: error });
  return error;
}

function runsIn(host: TestHost): number {
  return readFileSync(join(host.place.work, 'runs'), 'utf8').split('\n').length - 1;
}

async function failureOf(script: string, options: Parameters<typeof sessionOf>[1] = {}) {
  const error = await rejection(sessionOf(script, options).session.token());
  expect(error).toMatchObject({ code: 'token_command_failed', exitCode: 4 });
  return error;
}

describe('accepted output', () => {
  test.each([
    ['one line', "printf 'aToken-1\\n'", 'aToken-1', undefined],
    ['a line without its end', 'printf aToken-1', 'aToken-1', undefined],
    ['a line of Windows', "printf 'aToken-1\\r\\n'", 'aToken-1', undefined],
    [
      'JSON',
      `printf '{"access_token": "aToken-1",\\n "expires_at": "2030-01-02T03:04:05.6+01:00"}\\n'`,
      'aToken-1',
      '2030-01-02T03:04:05.6+01:00',
    ],
    ['64 KiB', 'head -c 65535 /dev/zero | tr "\\0" x; echo', 'x'.repeat(65_535), undefined],
  ])('%s', async (_what, script, token, expiresAt) => {
    const printed = await sessionOf(script).session.token();
    expect(printed.accessToken.reveal()).toBe(token);
    expect(printed.expiresAt).toBe(expiresAt);
  });

  it('a program that leaves another one behind, which keeps its output open, is not waited for', async () => {
    const begun = performance.now();
    const { host, session } = sessionOf('sleep 20 & echo $! > "$1/pid"; echo aToken-1');
    expect((await session.bearer()).reveal()).toBe('aToken-1');
    expect(performance.now() - begun).toBeLessThan(10_000);
    process.kill(Number(readFileSync(join(host.place.work, 'pid'), 'utf8')));
  });
});

describe('any other output is an error that names the program, and does not show the output', () => {
  test.each([
    ['nothing', 'true'],
    ['an empty line', 'echo'],
    ['two lines', 'echo Hidden-1; echo Hidden-2'],
    ['a token with an empty line', 'echo Hidden-1; echo'],
    ['two words', 'echo Hidden-1 Hidden-2'],
    ['bytes that are no text', "printf 'Hidden-1\\377'"],
    ['JSON without an expiry', `echo '{"access_token":"Hidden-1"}'`],
    ['JSON with a date only', `echo '{"access_token":"Hidden-1","expires_at":"2030-01-02"}'`],
    ['JSON with a time that does not exist', `echo '{"access_token":"Hidden-1","expires_at":"2030-13-02T03:04:05Z"}'`],
    ['JSON with a number as expiry', `echo '{"access_token":"Hidden-1","expires_at":1893456000}'`],
    ['JSON without a token', `echo '{"expires_at":"2030-01-02T03:04:05Z"}'`],
    [
      'JSON with more',
      `echo '{"access_token":"Hidden-1","expires_at":"2030-01-02T03:04:05Z","refresh_token":"Hidden-2"}'`,
    ],
    ['torn JSON', `echo '{"access_token":"Hidden-1"'`],
    ['a JSON array', `echo '["Hidden-1", 2]'`],
    ['2 MB', 'head -c 2000000 /dev/zero | tr "\\0" H'],
    ['one byte more than 64 KiB', 'head -c 65537 /dev/zero | tr "\\0" H'],
    ['2 MB of errors', 'head -c 2000000 /dev/zero | tr "\\0" H >&2; echo Hidden-1'],
    ['a token, and fails', 'echo Hidden-1; exit 3'],
    ['a token, and is killed', 'echo Hidden-1; kill -9 $$'],
  ])('%s', async (_what, script) => {
    const error = await failureOf(script);
    expect(error.message).toContain('/bin/sh');
    expect(JSON.stringify([error.message, error.detail, error.hint, error.stack])).not.toMatch(/Hidden|HHHH/);
  });

  it('a program that hangs is ended at the limit, with what it has started', async () => {
    const begun = performance.now();
    const { host, session } = sessionOf('sleep 600 & echo $! > "$1/pid"; wait', { limit: 500 });
    const error = await rejection(session.bearer());
    expect(error).toMatchObject({ code: 'token_command_failed', message: expect.stringContaining('0.5 s') });
    expect(performance.now() - begun).toBeLessThan(10_000);
    const pid = Number(readFileSync(join(host.place.work, 'pid'), 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(/ESRCH/), 5000);
  });

  it('a program that does not exist, or cannot be started', async () => {
    const { host } = sessionOf('true');
    const file = join(host.place.work, 'not-executable');
    writeFileSync(file, 'echo aToken-1');
    for (const program of ['/no/such/program', 'no-such-program', file])
      expect(await rejection(openSession(host, [program]).session.token())).toMatchObject({
        code: 'token_command_failed',
      });
  });

  it('a signal ends the program and the command', async () => {
    const { host, session } = sessionOf('echo $$ > "$1/pid"; sleep 600');
    const failed = rejection(session.token());
    await vi.waitFor(() => expect(existsSync(join(host.place.work, 'pid'))).toBe(true), 5000);
    await vi.waitFor(() => expect(readFileSync(join(host.place.work, 'pid'), 'utf8')).toMatch(/\n/), 5000);
    host.signal('SIGTERM');
    expect(await failed).toMatchObject({ code: 'cancelled', exitCode: 143 });
    const pid = Number(readFileSync(join(host.place.work, 'pid'), 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(/ESRCH/), 5000);
  });
});

describe('the standard error of the program', () => {
  it('is the detail of the error, made safe to print', async () => {
    const { detail } = await failureOf(
      `printf 'Permission denied (publickey).\\033[2J\\n\\033]0;x\\007hint: run it\\n' >&2; exit 255`,
    );
    expect(detail).toContain('Permission denied (publickey).');
    expect(detail).not.toContain('\u001b');
  });

  test.each([
    ['what it printed on standard output', 'echo short-tok; echo "got short-tok" >&2; exit 1', 'short-tok'],
    ['a member of its JSON', `echo '{"access_token":"aa.bb-cc1"'; echo 'is aa.bb-cc1' >&2`, 'aa.bb-cc1'],
    ['an authorization header', 'echo "> Authorization: Bearer abc.def.ghi" >&2; exit 1', 'abc.def.ghi'],
    ['basic authentication', 'echo "> authorization: Basic dXNlcjpw" >&2; exit 1', 'dXNlcjpw'],
    ['a value with a name', 'echo "token=abcdef, PASSWORD: hunter2" >&2; exit 1', 'abcdef|hunter2'],
    ['a user in a URL', 'echo "GET https://me:hunter2@vault/" >&2; exit 1', 'hunter2'],
    [
      'a long random word',
      'echo "+ printf hvs.CAESIJ3kZx81mQpLw02nVb7TrYs" >&2; exit 1',
      'CAESIJ3kZx81mQpLw02nVb7TrYs',
    ],
  ])('does not show %s', async (_what, script, secret) => {
    const { detail } = await failureOf(script);
    expect(detail).toContain('[secret]');
    expect(detail).not.toMatch(new RegExp(secret));
  });

  it('does not show a refused token', async () => {
    const { session } = sessionOf(
      '[ -e "$1/again" ] && { echo "refused: t.o-1.x-9" >&2; exit 1; }; touch "$1/again"; echo "t.o-1.x-9"',
    );
    const error = await rejection(session.renew(await session.bearer()));
    expect(error.detail).not.toContain('t.o-1.x-9');
  });

  it.each([
    ['escape sequences in it', `printf 'x: %s\\033[0m%s\\n' SomeTokenOf LettersOnly`],
    ['a zero-width space in it', `printf 'x: %s\\342\\200\\213%s\\n' SomeTokenOf LettersOnly`],
    ['NUL in it', `printf 'x: %s\\0%s\\n' SomeTokenOf LettersOnly`],
    ['a label in colour', `printf 'password\\033[0m: SomeTokenOf%s\\n' LettersOnly`],
    ['lines of 12 characters', `echo SomeTokenOfLettersOnly | fold -w 12`],
    ['spaces', `echo S o m e T o k e n O f L e t t e r s O n l y`],
    ['only its beginning', `echo 'SomeTokenOfLet...'`],
    ['an assignment', `echo token=SomeTokenOfLettersOnly expires=1`],
    ['the scheme token', `echo 'Authorization: token SomeTokenOfLettersOnly'`],
  ])('does not show the token with %s', async (_what, script) => {
    const { detail = '' } = await failureOf(`echo access_token=SomeTokenOfLettersOnly; { ${script}; } >&2; exit 1`);
    expect(detail.replaceAll(/\s/g, '')).not.toContain('SomeTokenOf');
    expect(detail.replaceAll(/\s/g, '')).not.toContain('LettersOnly');
  });

  it('is not shown when there was more of it or of the output than is read', async () => {
    const { detail } = await failureOf(
      'echo my-token-of-letters >&2; head -c 70000 /dev/zero | tr "\\0" x; echo my-token-of-letters',
    );
    expect(detail).toBeUndefined();
  });

  it('is cut to its end, without the rest of a word', async () => {
    const { detail = '' } = await failureOf(
      `printf '%s' Secret-; head -c 9000 /dev/zero | tr '\\0' a >&2; echo ' the end' >&2; exit 1`,
    );
    expect(detail).toContain('the end');
    expect(detail).not.toContain('aaaa');
  });
});

describe('the environment of the program', () => {
  it('has no setting or secret of this program, and no password of a database', async () => {
    const env = {
      CLOUDCTL_CLIENT_SECRET: 's',
      CLOUDCTL_CONFIG_DIR: '/s',
      CLOUDCTL_STATE_DIR: '/s',
      cloudctl_lower: 's',
      PGPASSWORD: 's',
      REDISCLI_AUTH: 's',
      VAULT_ADDR: 'https://vault',
    };
    const { host, session } = sessionOf('env > "$1/env"; echo aToken-1', { env });
    await session.token();
    const text = readFileSync(join(host.place.work, 'env'), 'utf8');
    expect(text).not.toMatch(/^(CLOUDCTL_|PGPASSWORD|REDISCLI_AUTH)/im);
    expect(text).toContain('VAULT_ADDR=https://vault');
  });

  it('makes a nested use of the same profile fail before its program runs', async () => {
    const outer = sessionOf('echo run >> "$1/runs"; printf %s "$_CLOUDCTL_TOKEN_COMMAND" > "$1/marker"; echo aToken-1');
    await outer.session.token();
    const marker = readFileSync(join(outer.host.place.work, 'marker'), 'utf8');
    const nested = testHost({ beside: outer.host, env: { _CLOUDCTL_TOKEN_COMMAND: marker } });
    const settings = resolveSettings({ env: {}, config: nested.readConfig() });
    const error = await rejection(openCommand(nested, settings).token());
    expect(error).toMatchObject({ code: 'token_command_failed', exitCode: 4 });
    expectGolden('auth', errorText(error));
    expect(runsIn(outer.host)).toBe(1);
    const other = { ...settings, profile: { name: 'other', isDefault: false } };
    expect((await openCommand(nested, other).bearer()).reveal()).toBe('aToken-1');
  });

  it('ends a long chain of profiles', async () => {
    const marker = JSON.stringify(Array.from({ length: 8 }, (_, at) => `/c/config.json p${at}`));
    await failureOf('echo aToken-1', { env: { _CLOUDCTL_TOKEN_COMMAND: marker } });
  });

  it('is not one with a terminal or input, and no shell reads the words', async () => {
    const script = 'tty < /dev/tty 2>/dev/null && echo terminal; cat; echo aToken-1';
    expect((await sessionOf(script).session.bearer()).reveal()).toBe('aToken-1');
    const { host } = sessionOf('true');
    const words = [execPath, '-p', 'process.argv[1]', '$(id)`x`'];
    expect((await openSession(host, words).session.bearer()).reveal()).toBe('$(id)`x`');
  });
});

describe('the program', () => {
  it.each(['', ':/usr/bin', '.', 'bin'])('is not searched in the current folder with PATH=%j', async (path) => {
    const host = testHost({ env: { PATH: path } });
    const { session } = openSession(host, ['vitest-does-not-exist']);
    expectGolden('auth', errorText(await rejection(session.token())));
  });

  it.each(['"a-json-string"', '["a-token"]', '<html></html>', 'short'])(
    'prints no access token with %s',
    async (text) => {
      const { session } = openSession(testHost({ env: { PATH: process.env.PATH } }), ['/bin/echo', text]);
      expect(await rejection(session.token())).toMatchObject({ code: 'token_command_failed' });
    },
  );

  it.each(['2030-02-30T00:00:00Z', '2030-01-01T24:00:00Z', '2030-13-01T00:00:00Z'])(
    'has no expires_at %s',
    async (end) => {
      const json = JSON.stringify({ access_token: 'a-token-1', expires_at: end });
      const { session } = openSession(testHost({ env: { PATH: process.env.PATH } }), ['/bin/echo', json]);
      expect(await rejection(session.token())).toMatchObject({ code: 'token_command_failed' });
    },
  );

  it('may name a leap second', async () => {
    const json = JSON.stringify({ access_token: 'a-token-1', expires_at: '2030-12-31T23:59:60Z' });
    const { session } = openSession(testHost({ env: { PATH: process.env.PATH } }), ['/bin/echo', json]);
    expect((await session.token()).expiresAt).toBe('2030-12-31T23:59:60Z');
  });
});

describe('how often the program runs', () => {
  const counting = 'echo run >> "$1/runs"; echo a-token-$(wc -l < "$1/runs" | tr -d " ")';

  it('not before the first request, and once for all requests', async () => {
    const { host, session } = sessionOf(counting);
    expect(existsSync(join(host.place.work, 'runs'))).toBe(false);
    const tokens = await Promise.all(Array.from({ length: 20 }, () => session.bearer()));
    tokens.push(await session.bearer());
    expect(new Set(tokens.map((one) => one.reveal()))).toEqual(new Set(['a-token-1']));
    expect(runsIn(host)).toBe(1);
  });

  it('once for each refused token, also when many requests were refused', async () => {
    const { host, session } = sessionOf(counting);
    const first = await session.bearer();
    const renewed = await Promise.all(Array.from({ length: 20 }, () => session.renew(first)));
    expect(new Set(renewed.map((one) => one.reveal()))).toEqual(new Set(['a-token-2']));
    expect((await session.renew(first)).reveal()).toBe('a-token-2');
    expect(runsIn(host)).toBe(2);
  });

  it('again while it prints a refused token, because a secret store may lag', async () => {
    const script = 'echo run >> "$1/runs"; [ $(wc -l < "$1/runs") -lt 4 ] && echo old-token || echo new-token';
    const { host, session } = sessionOf(script);
    expect((await session.renew(await session.bearer())).reveal()).toBe('new-token');
    expect(runsIn(host)).toBe(4);
  });

  it('a token that was refused before counts as refused', async () => {
    const script =
      'echo run >> "$1/runs"; sed -n "$(wc -l < "$1/runs" | tr -d " ")p" <<E\ntoken-aa\ntoken-bb\ntoken-aa\ntoken-cc\nE';
    const { session } = sessionOf(script);
    const first = await session.bearer();
    const second = await session.renew(first);
    expect([first.reveal(), second.reveal(), (await session.renew(second)).reveal()]).toEqual([
      'token-aa',
      'token-bb',
      'token-cc',
    ]);
  });

  it('after 30 s the token is refused for good, and later requests do not wait again', async () => {
    const host = testHost({ env: { PATH: process.env.PATH } });
    const pauses: number[] = [];
    const clock = {
      ...host.clock,
      sleep: async (ms: number) => {
        pauses.push(ms);
        host.clock.advance(ms);
      },
    };
    const slow = { ...host, clock };
    const { session } = sessionOf('echo run >> "$1/runs"; echo same-token', { host: slow });
    const token = await session.bearer();
    const failures = await Promise.all([rejection(session.renew(token)), rejection(session.renew(token))]);
    expect(failures.map(({ code }) => code)).toEqual(['token_refused', 'token_refused']);
    const runs = runsIn(host);
    const waited = pauses.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThan(24_000);
    expect(waited).toBeLessThanOrEqual(30_000);
    expect(await rejection(session.renew(token))).toMatchObject({ code: 'token_refused' });
    expect(runsIn(host)).toBe(runs);
  });

  it('a failed run is not kept', async () => {
    const { session } = sessionOf('[ -e "$1/again" ] && echo aToken-1 || { touch "$1/again"; exit 1; }');
    expect(await rejection(session.bearer())).toMatchObject({ code: 'token_command_failed' });
    expect((await session.bearer()).reveal()).toBe('aToken-1');
  });
});

describe('where the token goes', () => {
  it('another API than that of the profile is refused before the program runs', () => {
    const { host } = sessionOf('echo run >> "$1/runs"; echo aToken-1');
    const config = host.readConfig();
    const option = { base_url: { option: '--base-url', text: 'https://evil.example' } };
    for (const settings of [
      resolveSettings({ env: {}, config, overrides: option }),
      resolveSettings({ env: { CLOUDCTL_BASE_URL: 'https://evil.example' }, config }),
    ])
      expect(() => openCommand(host, settings)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(existsSync(join(host.place.work, 'runs'))).toBe(false);
    const same = resolveSettings({ env: { CLOUDCTL_BASE_URL: `${base_url}/` }, config });
    expect(() => openCommand(host, same)).not.toThrow();
  });

  it('a profile without base_url sends it nowhere', () => {
    const host = testHost();
    host.writeConfig({ profiles: { default: { token_command: ['true'] } } });
    const settings = resolveSettings({ env: { CLOUDCTL_BASE_URL: base_url }, config: host.readConfig() });
    expect(() => openCommand(host, settings)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

it('a config.json that has changed since it was read runs nothing', async () => {
  const { host, session } = sessionOf('echo aToken-1');
  host.writeConfig({ profiles: { default: { base_url, token_command: ['/bin/echo', 'other'] } } });
  expect(await rejection(session.token())).toMatchObject({ code: 'config_invalid' });
});

it('there is no record, and no refresh by force', async () => {
  const { session } = sessionOf('echo aToken-1');
  for (const work of [session.record, session.forceRefresh])
    expect(await rejection(work())).toMatchObject({ code: 'usage', exitCode: 2 });
});

it('the token is not printed by accident', async () => {
  const printed = await sessionOf('echo aToken-1').session.token();
  expect(`${JSON.stringify(printed)}${printed.accessToken}`).not.toContain('aToken-1');
  expect(printed.accessToken).toBeInstanceOf(Secret);
});
