import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { closedPort } from '../../scripts/free-port.mjs';
import { node, type Ran, startProgram } from '../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../fixtures/folders.ts';
import { lacks } from '../fixtures/needs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/guides/pipelines.md'), 'utf8');

interface ActionStep {
  readonly run: string;
  readonly shell: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'working-directory'?: string;
}

interface ActionFile {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly ActionStep[] };
}

const action: ActionFile = parse(readFileSync(join(root, 'action.yml'), 'utf8'));
const secret = 'pass word$(id)';

let folders: Folders;
let temp: string;
let output: string;
/** The checkout of the action. */
let checkout: string;

beforeEach(() => {
  folders = makeFolders();
  onTestFinished(() => folders.remove());
  temp = join(folders.home, 'runner temp');
  output = join(folders.home, 'output');
  mkdirSync(temp);
  writeFileSync(output, '');
  mkdirSync(join(folders.home, 'bin'));
  program('npm', npmScript);
  checkout = join(folders.home, 'runner actions');
  mkdirSync(join(checkout, 'bin'), { recursive: true });
  writeFileSync(join(checkout, 'bin/cloudctl.cjs'), cloudctlScript, { mode: 0o755 });
});

/** In place of `npm`: keeps folder, arguments and variables of each call. */
const npmScript = `
const record = { words: process.argv.slice(2), folder: process.cwd(), env: process.env };
require('node:fs').appendFileSync(process.env.HOME + '/npm.ndjson', JSON.stringify(record) + '\\n');
`;

/** A program that keeps its arguments and variables, and then is the built one. */
const cloudctlScript = `#!/usr/bin/env node
const record = { words: process.argv.slice(2), env: process.env };
require('node:fs').writeFileSync(process.env.HOME + '/cloudctl.json', JSON.stringify(record));
require(${JSON.stringify(join(root, 'bin/cloudctl.cjs'))});
`;

function program(name: string, text: string): void {
  const file = join(folders.home, 'bin', name);
  writeFileSync(`${file}.cjs`, text);
  writeFileSync(file, `#!/bin/sh\nexec '${node}' '${file}.cjs' "$@"\n`);
  chmodSync(file, 0o755);
}

interface Recorded {
  readonly words: readonly string[];
  readonly folder: string;
  readonly env: Environment;
}

function recorded(): Pick<Recorded, 'words' | 'env'> {
  return JSON.parse(readFileSync(join(folders.home, 'cloudctl.json'), 'utf8'));
}

function npmCalls(): readonly Recorded[] {
  const lines = readFileSync(join(folders.home, 'npm.ndjson'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

function environment(more: Environment): Environment {
  const path = `${join(folders.home, 'bin')}:${process.env.PATH}`;
  return { PATH: path, RUNNER_TEMP: temp, GITHUB_OUTPUT: output, CI: 'true', ...more };
}

/** Runs the steps until one fails, as the runner does: expressions are replaced in `env` and `working-directory` only. */
async function runAction(inputs: Readonly<Record<string, string>>, more: Environment = {}): Promise<Ran> {
  const value = (text: string): string =>
    text.replaceAll(/\$\{\{ (?:inputs\.([\w-]+)|github\.action_path) \}\}/g, (_, name?: string) =>
      name === undefined ? checkout : (inputs[name] ?? action.inputs[name]?.default ?? ''),
    );
  let ran: Ran | undefined;
  for (const [at, step] of action.runs.steps.entries()) {
    expect(step.shell).toBe('bash');
    const file = join(temp, `step-${at}.sh`);
    writeFileSync(file, step.run);
    const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, value(text)]));
    const cwd = value(step['working-directory'] ?? folders.work);
    const words = ['--noprofile', '--norc', '-eo', 'pipefail', file];
    ran = await startProgram('bash', words, { folders, env: environment({ ...more, ...env }), cwd, limit: 120_000 })
      .ended;
    if (ran.code !== 0) return ran;
  }
  if (ran === undefined) throw new Error('the action has no steps');
  return ran;
}

const closedSource = async (): Promise<string> => `postgres://mover@127.0.0.1:${await closedPort()}/shop`;

describe.skipIf(lacks('bash', 'od'))('the action', { timeout: 60_000 }, () => {
  test('has no expression in a script', () => {
    expect(action.runs.using).toBe('composite');
    for (const { run } of action.runs.steps) expect(run).not.toContain('${{');
  });

  test('writes SARIF, JUnit and the baseline, and ends with the exit code of the preflight', async () => {
    const files = { sarif: 'preflight.sarif', junit: 'preflight.xml', baseline: 'baseline.json' };
    const ran = await runAction({ source: await closedSource(), password: secret, 'target-version': '18', ...files });
    expect(ran.code).toBe(3);
    expect(readFileSync(output, 'utf8')).toBe('exit-code=3\n');
    expect(readdirSync(folders.work).sort()).toEqual(['baseline.json', 'preflight.sarif', 'preflight.xml']);
    expect(JSON.parse(readFileSync(join(folders.work, 'preflight.sarif'), 'utf8'))).toMatchObject({ version: '2.1.0' });
    const { words, env } = recorded();
    expect(words.join(' ')).not.toContain(secret);
    expect(env).toMatchObject({ PGPASSWORD: secret, REDISCLI_AUTH: secret });
    expect(env).not.toHaveProperty('INPUT_PASSWORD');
    expect(ran.stdout + ran.stderr).not.toContain(secret);
  });

  test('is built in its own checkout from the lock file, without the secrets', async () => {
    await runAction({ source: await closedSource(), password: secret });
    const calls = npmCalls();
    expect(calls.map(({ words: [word] }) => word)).toEqual(['ci', 'run']);
    expect(calls[0]?.words).toEqual(expect.arrayContaining(['--ignore-scripts', '--include=dev']));
    for (const { folder, words } of calls)
      expect([folder, words.join(' ')]).toEqual([checkout, expect.not.stringContaining('cloudctl')]);
    expect(JSON.stringify(calls)).not.toContain('pass word');
  });

  test.skipIf(lacks('git', 'tar'))('builds and runs from a copy of the commit', { timeout: 180_000 }, async () => {
    rmSync(checkout, { recursive: true });
    mkdirSync(checkout);
    // The files of the commit with what was changed since, as a checkout of the action has them.
    const copy = 'git -C "$0" ls-files -z | tar -C "$0" --null --files-from - --create | tar -C "$1" --extract';
    const words = ['--norc', '-eo', 'pipefail', '-c', copy, root, checkout];
    expect(await startProgram('bash', words, { folders }).ended).toMatchObject({ code: 0, stderr: '' });
    rmSync(join(folders.home, 'bin/npm'));
    // A job of a production environment, with the registry and the cache of this machine.
    const ofMachine = /^(npm_config_(registry|cache|userconfig|cafile)|node_extra_ca_certs|https?_proxy)$/i;
    const env = {
      NODE_ENV: 'production',
      npm_config_userconfig: join(homedir(), '.npmrc'),
      npm_config_cache: join(homedir(), '.npm'),
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => ofMachine.test(name))),
    };
    const ran = await runAction({ source: await closedSource(), junit: 'preflight.xml' }, env);
    expect([ran.code, readFileSync(output, 'utf8')]).toEqual([3, 'exit-code=3\n']);
    expect(readFileSync(join(folders.work, 'preflight.xml'), 'utf8')).toContain('<testsuite');
  });

  test.each([
    '$(touch injected)',
    '`touch injected`',
    '"; touch injected; "',
    "'; touch injected; '",
    '\ntouch injected\n',
    '&& touch injected',
    '--undo-sql=injected',
    '-o json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell code
    '* ? ~ $HOME ${PATH}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of the runner
    '${{ secrets.TOKEN }}',
    '\\"; touch injected #',
  ])('an input with %j is one argument, and no code', async (value) => {
    const names = ['target-version', 'method', 'accept', 'ca-file', 'sarif', 'sarif-uri', 'junit', 'baseline'];
    const inputs = Object.fromEntries(names.map((name) => [name, value]));
    await runAction({ source: value, password: value, strict: value, ...inputs });
    const options = names.map((name) => `--${name === 'sarif' || name === 'junit' ? 'report' : name}=${value}`);
    expect(recorded().words).toEqual(['db', 'preflight', '--no-input', ...options]);
    expect(recorded().env).toMatchObject({ CLOUDCTL_SOURCE: value, PGPASSWORD: value });
    expect(readdirSync(folders.work)).toEqual([]);
    expect(readdirSync(temp).sort()).toEqual(['step-0.sh', 'step-1.sh']);
  });

  test('the runner reads no line of the report as a workflow command', async () => {
    const { stdout } = await runAction({ source: await closedSource() });
    const [, token = ''] = /^::stop-commands::([0-9a-f]{32})$/m.exec(stdout) ?? [];
    expect(token).not.toBe('');
    expect(stdout.startsWith('::stop-commands::')).toBe(true);
    expect(stdout.trimEnd().endsWith(`\n::${token}::`)).toBe(true);
  });
});

describe('the scripts of docs/guides/pipelines.md', { timeout: 60_000 }, () => {
  const block = (language: string, at = 0): string =>
    [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].filter(([, name]) => name === language)[at]?.[2] ?? '';
  const gitlab = parse(block('yaml', 1)).preflight;
  const scripts: Readonly<Record<string, string>> = {
    'any CI system': block('sh'),
    GitLab: gitlab.script.join('\n'),
    Jenkins: /sh '''([\s\S]*?)'''/.exec(block('groovy'))?.[1] ?? '',
  };

  /** In place of `curl`: gives a release, whose address it keeps. Returns the sum of the release. */
  async function release(): Promise<string> {
    const name = 'cloudctl-0.1.0-linux-x64';
    mkdirSync(join(folders.home, name));
    writeFileSync(join(folders.home, name, 'cloudctl'), cloudctlScript, { mode: 0o755 });
    const archive = join(folders.home, `${name}.tar.xz`);
    const packed = await startProgram('tar', ['-C', folders.home, '-cJf', archive, name], { folders }).ended;
    expect(packed).toMatchObject({ code: 0, stderr: '' });
    program(
      'curl',
      `
const words = process.argv.slice(2);
if (words.at(-1) !== '${address}') process.exit(22);
require('node:fs').copyFileSync('${archive}', words[words.indexOf('--output') + 1]);
`,
    );
    return createHash('sha256').update(readFileSync(archive)).digest('hex');
  }
  const address = 'https://releases.example.com/cloudctl-0.1.0-linux-x64.tar.xz';
  const runScript = async (script: string, more: Environment): Promise<Ran> => {
    const variables = { CLOUDCTL_SOURCE: await closedSource(), PGPASSWORD: secret, RELEASE_URL: address, TMPDIR: temp };
    return startProgram('sh', ['-e', '-c', script], { folders, env: environment({ ...variables, ...more }) }).ended;
  };

  test.each(Object.entries(scripts))('%s', async (_, script) => {
    const ran = await runScript(script, { RELEASE_SHA256: await release() });
    expect(ran.code).toBe(3);
    expect(readdirSync(folders.work).sort()).toEqual(['preflight-baseline.json', 'preflight.sarif', 'preflight.xml']);
    expect(recorded().words.join(' ')).not.toContain(secret);
  });

  test.each(
    Object.entries(scripts).flatMap(([name, script]) =>
      ['', '0'.repeat(64), 'x'].map((sum) => [name, sum, script] as const),
    ),
  )('%s: a release with another sum than %j is not run', async (_, sum, script) => {
    await release();
    expect((await runScript(script, { RELEASE_SHA256: sum })).code).toBe(1);
    expect(existsSync(join(folders.home, 'cloudctl.json'))).toBe(false);
    expect(readdirSync(folders.work)).toEqual([]);
  });

  test('the example of the action uses inputs that exist', () => {
    const step = parse(block('yaml')).jobs.preflight.steps[1];
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with)));
  });
});
