import { expect, test } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { printError, toCliError, writesJson } from '../../src/cli/error-output.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { fakeSink } from './sink.ts';

async function printed(error: CliError, json = false, color = false): Promise<string> {
  const stderr = fakeSink();
  await printError(error, { stderr, json, color });
  return stderr.text();
}

const full = new CliError('needs_login', 'first part', {
  detail: 'second part\non two lines',
  hint: 'run `cloudctl auth login`',
  status: 401,
  requestId: 'r-1',
});

test('an error has its parts on lines of their own, and further lines are set in', async () => {
  expect(await printed(full)).toBe(
    'error: first part\ndetail: second part\n  on two lines\nhint: run `cloudctl auth login`\n',
  );
  expect(await printed(new CliError('busy', 'busy'))).toBe('error: busy\n');
});

test('in JSON an error is one object on one line', async () => {
  const text = await printed(full, true);
  expect(text.trimEnd()).not.toContain('\n');
  expect(JSON.parse(text)).toEqual({
    error: {
      code: 'needs_login',
      message: 'first part',
      detail: 'second part\non two lines',
      hint: 'run `cloudctl auth login`',
      exit_code: 4,
      status: 401,
      request_id: 'r-1',
    },
  });
});

test.each([false, true])('what a server says does not act on the terminal (JSON: %s)', async (json) => {
  const evil = 'a\u001b[2J\u009b1m\u202eb\r';
  const error = new CliError('api_error', evil, { detail: evil, hint: evil, requestId: evil });
  expect((await printed(error, json)).replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
});

test('a server cannot add a part of its own', async () => {
  const text = await printed(new CliError('api_error', 'a\nhint: run rm', { detail: 'b\nhint: run rm' }));
  expect(text).not.toMatch(/^hint/m);
});

test('the parts have colour when it is wanted', async () => {
  expect(await printed(full, false, true)).toContain('\u001b[31merror:\u001b[39m first');
});

test('an error that is not a CliError is internal, and is printed without secrets and without a stack', () => {
  const thrown = new TypeError(
    'fetch https://user:pw@auth.example/v1/oauth/token?code=c0de&client_secret=hunter2 failed, Bearer abc, doo_v1_0123456789abcdef0123456789',
  );
  const error = toCliError(thrown);
  expect(error).toMatchObject({ code: 'internal', exitCode: 1, cause: thrown });
  for (const secret of ['pw', 'c0de', 'hunter2', 'abc', 'doo_v1', 'report.test'])
    expect(error.detail).not.toContain(secret);
  expectGolden('errors', errorText(error));
});

test('anything thrown becomes an error, and a CliError stays the same', () => {
  expect(toCliError(full)).toBe(full);
  expect(toCliError('hunter2').detail).not.toContain('hunter2');
  expect(toCliError(undefined).code).toBe('internal');
  expectGolden('errors', errorText(toCliError('hunter2')));
});

test.each([
  [['-o', 'json'], {}, true],
  [['-o', 'ndjson'], {}, true],
  [['-ojson'], {}, true],
  [['--output=json', 'droplts'], {}, true],
  [['--output', 'json', '-o', 'table'], {}, false],
  [['--', '-o', 'json'], {}, false],
  [['-o'], {}, false],
  [[], { CLOUDCTL_OUTPUT: 'json' }, true],
  [['-o', 'yaml'], { CLOUDCTL_OUTPUT: 'json' }, false],
  [[], {}, false],
] as const)('words %j in %j: errors in JSON is %s', (argv, env, expected) => {
  expect(writesJson(argv, env)).toBe(expected);
});

test('on a terminal, lines break between words', async () => {
  const stderr = { ...fakeSink(), isTTY: true, columns: 40 };
  await printError(full, { stderr, json: false, color: false });
  await printError(new CliError('busy', 'another process holds the lock'), { stderr, json: false, color: false });
  expectGolden('errors', stderr.text());
});
