import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { install, side } from '../../scripts/extra-packages.mjs';
import { freePort } from '../../scripts/free-port.mjs';
import { type Sandbox, startSandbox } from '../../src/library/sandbox.ts';
import { node } from '../fixtures/cli.ts';
import { isCi, lacks, which } from '../fixtures/needs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const playwright = packageJson.devDependencies['playwright-core'];
const pages = readdirSync(join(root, 'docs/library')).filter((name) => name.endsWith('.md'));

/** A project of somebody else, with the packed package and nothing of this project but its dependencies. */
let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'cloudctl-consumer-'));
  const [{ filename }] = JSON.parse(
    ran('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], root),
  );
  const packages = join(project, 'node_modules');
  const own = join(packages, 'cloudctl');
  mkdirSync(own, { recursive: true });
  ran('tar', ['-xzf', join(project, filename), '--strip-components=1', '-C', own], project);
  for (const name of ['@napi-rs', '@types', 'fs-native-extensions', 'typescript', 'vitest', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(packages, name));
  cpSync(join(root, 'test/consumers'), project, { recursive: true });
}, 60_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('projects that import the package', () => {
  test('their types fit', () => {
    ran(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], project);
  });

  test('a test suite with the sandbox fixture passes', () => {
    const program = join(root, 'node_modules/vitest/vitest.mjs');
    const printed = ran(process.execPath, [program, 'run', '--dir', 'suite', '--reporter=json'], project);
    expect(JSON.parse(printed)).toMatchObject({ numPassedTests: 3, numFailedTests: 0 });
  });

  test.skipIf(lacks('chromium'))('a suite of Playwright with the sandbox fixture passes', (context) => {
    const installed = join(side, 'playwright', 'node_modules');
    if (!existsSync(join(installed, '@playwright')) && !install(dirname(installed), `@playwright/test@${playwright}`)) {
      const problem = 'the test runner of Playwright could not be installed from the registry';
      expect(isCi, problem).toBe(false);
      context.skip(problem);
    }
    for (const name of ['@playwright', 'playwright', 'playwright-core'])
      symlinkSync(join(installed, name), join(project, 'node_modules', name));
    ran(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(project, 'browser')], project);
    const words = [join(project, 'node_modules/@playwright/test/cli.js'), 'test', 'browser', '--reporter=json'];
    const printed = ran(process.execPath, words, project, { ...process.env, CHROMIUM: which('chromium') });
    expect(JSON.parse(printed).stats).toMatchObject({ expected: 2, unexpected: 0, skipped: 0, flaky: 0 });
  });

  test('CommonJS loads the parts by import(), and by require where Node can require an ES module', () => {
    const names = readdirSync(join(root, 'src/library'))
      .map((name) => name.replace('.ts', ''))
      .filter((name) => `./${name}` in packageJson.exports)
      .map((name) => `cloudctl/${name}`);
    const script = join(project, 'script.cjs');
    writeFileSync(
      script,
      `const names = ${JSON.stringify(names)};
      const count = (part) => Object.keys(part).length;
      Promise.all(names.map((name) => import(name))).then((imported) => {
        const required = process.features.require_module ? names.map((name) => require(name)) : imported;
        console.log(names.length, required.every((part, at) => count(part) > 0 && part === imported[at]));
      });`,
    );
    expect(ran(node, [script], project)).toBe('4 true\n');
  });

  test('a command logs in, keeps the session and refreshes it once for many processes', async () => {
    const { sandbox, env } = await sandboxWithEnvironment();
    const command = join(project, 'built/command/command.js');
    const login = spawn(process.execPath, [command, 'login'], { env });
    const [startUrl = ''] = (await once(createInterface({ input: login.stdout }), 'line')) as string[];
    await visit(startUrl);
    if (login.exitCode === null) await once(login, 'exit');
    expect(login.exitCode).toBe(0);
    const token = ran(process.execPath, [command, 'token'], project, env).trim();
    expect(sandbox.tokens.state(token)).toBe('valid');
    const refused = { ...env, REFUSED_TOKEN: token };
    const printed = await Promise.all(Array.from({ length: 6 }, () => output(command, ['token'], refused)));
    expect(new Set(printed).size).toBe(1);
    expect(sandbox.tokens.state(printed[0]?.trim() ?? '')).toBe('valid');
    expect(sandbox.requests('POST /v1/oauth/token').map(({ grant_type }) => grant_type)).toEqual([
      'authorization_code',
      'refresh_token',
    ]);
  });

  test('a script prints the verdict of a source', () => {
    const script = join(project, 'built/script/check-source.js');
    expect(ran(process.execPath, [script, 'postgres://u@127.0.0.1:1/d'], project)).toMatch(/^blocked tcp-connect/);
    expect(ran(process.execPath, [script, 'nothing'], project)).toBe('invalid_options\n');
  });
});

describe('the examples of the pages', () => {
  test.each(pages)('%s', async (page) => {
    const text = readFileSync(join(root, 'docs/library', page), 'utf8');
    const examples = [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
    expect(examples.length).toBeGreaterThan(0);
    const { env } = await sandboxWithEnvironment();
    for (const [at, code] of examples.entries()) {
      const file = join(project, `${page}.${at}.mjs`);
      writeFileSync(file, code);
      const child = spawn(process.execPath, [file], {
        cwd: project,
        env: { ...env, SESSION_FILE: join(dirname(env.SESSION_FILE), `${at}.json`) },
      });
      let printed = '';
      let failures = '';
      child.stderr.on('data', (data) => {
        failures += data;
      });
      for await (const line of createInterface({ input: child.stdout })) {
        printed += `${line}\n`;
        if (line.startsWith('open ')) void visit(line.slice('open '.length));
      }
      if (child.exitCode === null) await once(child, 'exit');
      expect([child.exitCode, failures]).toEqual([0, '']);
      expect(printed).toMatch(expectedOutput[page] ?? /^never$/);
    }
  });
});

/** What each page says that its example prints. */
const expectedOutput: Readonly<Record<string, RegExp>> = {
  'loopback.md': /received a code http:\/\/127\.0\.0\.1:\d+\/callback\n$/,
  'preflight.md': /^blocked\n(.*\n)*tcp-connect\n/,
  'sandbox.md': /^200\nexpired\n503\n2\n$/,
  'session.md': /^1 access token\n$/,
};

async function sandboxWithEnvironment(): Promise<{
  sandbox: Sandbox;
  env: Record<string, string> & { SESSION_FILE: string };
}> {
  const sandbox = await startSandbox({ callbackUrls: [`http://127.0.0.1:${await freePort()}/callback`] });
  sandbox.setConsent({ mode: 'approve', user: sandbox.users[0]?.uuid ?? '' });
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-session-'));
  onTestFinished(async () => {
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const { id, secret, callbackUrl } = sandbox.client;
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    AUTH_URL: sandbox.authUrl,
    CLIENT_ID: id,
    CLIENT_SECRET: secret,
    CALLBACK_URL: callbackUrl,
    REFRESH_TOKEN: sandbox.tokens.issue().refreshToken,
    SESSION_FILE: join(folder, 'session.json'),
  };
  return { sandbox, env };
}

function ran(file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr } = spawnSync(file, args, { cwd, env, encoding: 'utf8', timeout: 100_000 });
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  return stdout;
}

async function output(script: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [script, ...args], { env });
  let printed = '';
  for await (const data of child.stdout) printed += data;
  return printed;
}

/** Follows the redirects of a login as a browser tab does. */
async function visit(url: string): Promise<void> {
  const [response] = await once(get(url, { agent: false }), 'response');
  response.resume();
  const { location } = response.headers;
  if (location !== undefined) await visit(new URL(location, url).href);
}
