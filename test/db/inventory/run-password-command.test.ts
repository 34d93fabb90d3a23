import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { expect, it, onTestFinished, test, vi } from 'vitest';
import {
  parsePasswordCommand,
  type RunPasswordCommandOptions,
  runPasswordCommand,
} from '../../../src/db/inventory/run-password-command.ts';

const source = { name: 'a', host: 'db1', port: 5432, dbname: 'shop', username: 'mover' };

function run(program: string, more: Partial<RunPasswordCommandOptions> = {}) {
  const signal = new AbortController().signal;
  return runPasswordCommand([execPath, '-e', program], { source, env: process.env, signal, ...more });
}

async function passwordOf(program: string): Promise<string | undefined> {
  const result = await run(program);
  return 'password' in result ? result.password.reveal() : undefined;
}

it('the password is what the command prints, without the line break', async () => {
  expect(await passwordOf('console.log("pass word ")')).toBe('pass word ');
  expect(await passwordOf('process.stdout.write("ä\\r\\n")')).toBe('ä');
});

it('variables tell which source it is for', async () => {
  const names = ['NAME', 'HOST', 'PORT', 'DBNAME', 'USER'].map((name) => `process.env.CLOUDCTL_SOURCE_${name}`);
  expect(await passwordOf(`console.log([${names.join()}].join())`)).toBe('a,db1,5432,shop,mover');
});

test.each([
  { what: 'prints nothing', program: '' },
  { what: 'fails', program: 'console.log("hunter2"); process.exit(3)' },
  { what: 'is killed', program: 'console.log("hunter2"); process.kill(process.pid, 9)' },
  { what: 'prints binary data', program: 'process.stdout.write(Buffer.from([0xff,0xfe,0x00,0x80]))' },
  { what: 'prints two lines', program: 'console.log("hunter2\\nhunter2")' },
  { what: 'prints without end', program: 'setInterval(() => process.stdout.write("hunter2".repeat(9999)), 1)' },
])('a command that $what gives no password, and what it printed is not quoted', async ({ program }) => {
  const result = await run(program);
  expect(result).toMatchObject({ failure: expect.any(String) });
  expect(JSON.stringify(result)).not.toContain('hunter2');
});

test.each([
  { part: 'username', text: 'mover\nhost=elsewhere' },
  { part: 'username', text: 'mover\u001b]0;x\u0007' },
  { part: 'username', text: 'mover\u009b2J' },
  { part: 'dbname', text: 'shop\r' },
  { part: 'dbname', text: 'shop\u2028' },
  { part: 'host', text: 'db1\n' },
  { part: 'name', text: 'a\tb' },
])('a $part with control characters ($text) never reaches the command', async ({ part, text }) => {
  const marker = join(mkdtempSync(join(tmpdir(), 'cloudctl-')), 'ran');
  onTestFinished(() => rmSync(dirname(marker), { recursive: true }));
  const program = `require('fs').writeFileSync(${JSON.stringify(marker)}, ''); console.log('x')`;
  const result = await run(program, { source: { ...source, [part]: text } });
  expect(result).toMatchObject({ failure: expect.any(String) });
  expect(JSON.stringify(result)).not.toContain('elsewhere');
  expect(existsSync(marker)).toBe(false);
});

it('names in other scripts and with spaces reach the command', async () => {
  const variables = '[process.env.CLOUDCTL_SOURCE_USER, process.env.CLOUDCTL_SOURCE_DBNAME].join()';
  const result = await run(`console.log(${variables})`, {
    source: { ...source, username: 'Jürgen ü', dbname: '店 "x"' },
  });
  expect('password' in result && result.password.reveal()).toBe('Jürgen ü,店 "x"');
});

it('a command that hangs is ended, also if a program that it started keeps the output open', async () => {
  const begun = performance.now();
  const child = 'require("child_process").spawn("sleep",["20"],{stdio:"inherit"}); setInterval(()=>{},1000)';
  expect(await run(child, { limit: 300 })).toMatchObject({ failure: expect.stringContaining('0.3') });
  expect(performance.now() - begun).toBeLessThan(10_000);
});

it.skipIf(process.platform === 'win32')('programs that a hanging command has started end with it', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'cloudctl-')), 'pid');
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  // Its output is closed, so that nothing but the signal ends it.
  const words = ['sh', '-c', 'sleep 600 >/dev/null 2>&1 & echo $! >"$0"; wait', file];
  const { PATH } = process.env;
  await runPasswordCommand(words, { source, env: { PATH }, signal: new AbortController().signal, limit: 500 });
  const pid = Number(readFileSync(file, 'utf8'));
  expect(pid).toBeGreaterThan(1);
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(/ESRCH/), 5000);
});

it('no shell reads the words', async () => {
  const words = [execPath, '-p', 'process.argv[1]', '$(id); echo "x"'];
  const result = await runPasswordCommand(words, { source, env: {}, signal: new AbortController().signal });
  expect('password' in result ? result.password.reveal() : result).toBe('$(id); echo "x"');
});

it('a program that does not exist is a failure', async () => {
  const signal = new AbortController().signal;
  expect(await runPasswordCommand(['/no/such/program'], { source, env: {}, signal })).toHaveProperty('failure');
});

test.each(['pass show', '[]', '{}', '[1]', '[""]', '["a\\u0000"]', '"pass"', ''])('%j is no command', (text) => {
  expect(() => parsePasswordCommand(text)).toThrow(expect.objectContaining({ code: 'usage' }));
});

it('a command is the program and its arguments', () => {
  expect(parsePasswordCommand('["pass", "show", ""]')).toEqual(['pass', 'show', '']);
  expect(parsePasswordCommand(undefined)).toBeUndefined();
});
