import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { closedPort } from '../../scripts/free-port.mjs';
import { node, type Ran, startProgram } from '../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../fixtures/folders.ts';
import { lacks } from '../fixtures/needs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/guides/pipelines.md'), 'utf8');

interface ActionStep {
  readonly run: string;
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
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

beforeEach(() => {
  folders = makeFolders();
  onTestFinished(() => folders.remove());
  temp = join(folders.home, 'runner temp');
  output = join(folders.home, 'output');
  mkdirSync(temp);
  writeFileSync(output, '');
  mkdirSync(join(folders.home, 'bin'));
  program('npm', installScript);
});

/** Installs what `npm install --prefix FOLDER` would: the package of this repository, whose arguments and variables it keeps. */
const installScript = `
const { mkdirSync, writeFileSync, symlinkSync } = require('node:fs');
const words = process.argv.slice(2);
writeFileSync(process.env.HOME + '/npm.json', JSON.stringify({ words, folder: process.cwd(), env: process.env }));
const modules = words[words.indexOf('--prefix') + 1] + '/node_modules';
mkdirSync(modules + '/.bin', { recursive: true });
mkdirSync(modules + '/cloudctl/bin', { recursive: true });
const record = 'process.env.HOME + "/cloudctl.json", JSON.stringify({ words: process.argv.slice(2), env: process.env })';
const file = modules + '/cloudctl/bin/cloudctl.cjs';
writeFileSync(file, '#!/usr/bin/env node\\nrequire("node:fs").writeFileSync(' + record + ');\\nrequire(${JSON.stringify(join(root, 'bin/cloudctl.cjs'))});\\n', { mode: 0o755 });
symlinkSync(file, modules + '/.bin/cloudctl');
`;

function program(name: string, text: string): void {
  const file = join(folders.home, 'bin', name);
  writeFileSync(`${file}.cjs`, text);
  writeFileSync(file, `#!/bin/sh\nexec '${node}' '${file}.cjs' "$@"\n`);
  chmodSync(file, 0o755);
}

function recorded(name: 'npm' | 'cloudctl'): {
  readonly words: readonly string[];
  readonly folder: string;
  readonly env: Environment;
} {
  return JSON.parse(readFileSync(join(folders.home, `${name}.json`), 'utf8'));
}

function environment(more: Environment): Environment {
  const path = `${join(folders.home, 'bin')}:${process.env.PATH}`;
  return { PATH: path, RUNNER_TEMP: temp, GITHUB_OUTPUT: output, CI: 'true', ...more };
}

/** Runs the steps until one fails, as the runner does: expressions are replaced in `env` and `working-directory` only. */
async function runAction(inputs: Readonly<Record<string, string>>): Promise<Ran> {
  const value = (text: string): string =>
    text.replaceAll(/\$\{\{ (?:inputs\.([\w-]+)|runner\.temp) \}\}/g, (_, name?: string) =>
      name === undefined ? temp : (inputs[name] ?? action.inputs[name]?.default ?? ''),
    );
  let ran: Ran | undefined;
  for (const [at, step] of action.runs.steps.entries()) {
    expect(step.shell).toBe('bash');
    const file = join(temp, `step-${at}.sh`);
    writeFileSync(file, step.run);
    const env = Object.fromEntries(Object.entries(step.env).map(([name, text]) => [name, value(text)]));
    const cwd = value(step['working-directory'] ?? folders.work);
    const words = ['--noprofile', '--norc', '-eo', 'pipefail', file];
    ran = await startProgram('bash', words, { folders, env: environment(env), cwd }).ended;
    if (ran.code !== 0) return ran;
  }
  if (ran === undefined) throw new Error('the action has no steps');
  return ran;
}

const closedSource = async (): Promise<string> => `postgres://mover@127.0.0.1:${await closedPort()}/shop`;

describe.skipIf(lacks('bash', 'od'))('the action', { timeout: 60_000 }, () => {
  test('has no expression in a script, and the version of the package', () => {
    expect(action.runs.using).toBe('composite');
    for (const { run } of action.runs.steps) expect(run).not.toContain('${{');
    expect(action.inputs.version?.default).toBe(manifest.version);
  });

  test('writes SARIF, JUnit and the baseline, and ends with the exit code of the preflight', async () => {
    const files = { sarif: 'preflight.sarif', junit: 'preflight.xml', baseline: 'baseline.json' };
    const ran = await runAction({ source: await closedSource(), password: secret, 'target-version': '18', ...files });
    expect(ran.code).toBe(3);
    expect(readFileSync(output, 'utf8')).toBe('exit-code=3\n');
    expect(readdirSync(folders.work).sort()).toEqual(['baseline.json', 'preflight.sarif', 'preflight.xml']);
    expect(JSON.parse(readFileSync(join(folders.work, 'preflight.sarif'), 'utf8'))).toMatchObject({ version: '2.1.0' });
    const { words, env } = recorded('cloudctl');
    expect(words.join(' ')).not.toContain(secret);
    expect(env).toMatchObject({ PGPASSWORD: secret, REDISCLI_AUTH: secret });
    expect(env).not.toHaveProperty('INPUT_PASSWORD');
    expect(ran.stdout + ran.stderr).not.toContain(secret);
  });

  test('installs outside the checkout, without the secrets', async () => {
    await runAction({ source: await closedSource(), password: secret });
    const { words, folder, env } = recorded('npm');
    expect(folder).toBe(temp);
    expect(words).toContain('--ignore-scripts');
    expect(words.at(-1)).toBe(`cloudctl@${manifest.version}`);
    expect(JSON.stringify(env)).not.toContain('pass word');
  });

  test.each([
    '',
    'latest',
    '0.1.0 --registry=http://evil.example',
    '0.1.0\n--registry=http://evil.example',
    'file:../evil',
    'npm:evil@1.0.0',
    '$(touch injected)',
  ])('refuses the version %j before it installs anything', async (version) => {
    const ran = await runAction({ source: await closedSource(), version });
    expect(ran.code).toBe(2);
    expect(existsSync(join(folders.home, 'npm.json'))).toBe(false);
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
    expect(recorded('cloudctl').words).toEqual(['db', 'preflight', '--no-input', ...options]);
    expect(recorded('cloudctl').env).toMatchObject({ CLOUDCTL_SOURCE: value, PGPASSWORD: value });
    expect(readdirSync(folders.work)).toEqual([]);
    expect(readdirSync(temp).sort()).toEqual(['cloudctl', 'step-0.sh', 'step-1.sh']);
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

  test.each(Object.entries(scripts))('%s', async (_, script) => {
    const env = { CLOUDCTL_SOURCE: await closedSource(), PGPASSWORD: secret, WORKSPACE_TMP: temp };
    const ran = await startProgram('sh', ['-e', '-c', script], { folders, env: environment(env) }).ended;
    expect(ran.code).toBe(3);
    expect(readdirSync(folders.work).sort()).toEqual(['preflight-baseline.json', 'preflight.sarif', 'preflight.xml']);
    expect(recorded('cloudctl').words.join(' ')).not.toContain(secret);
    expect(recorded('npm').words.at(-1)).toBe(`cloudctl@${manifest.version}`);
  });

  test('the example of the action uses inputs that exist', () => {
    const step = parse(block('yaml')).jobs.preflight.steps[1];
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with)));
  });
});
