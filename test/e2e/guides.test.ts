import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { visit } from '../../scripts/page-visitor.mjs';
import { bin, node, type Ran, startProgram } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { lacks } from '../fixtures/needs.ts';
import { type Postgres, ready, startPostgres } from '../fixtures/postgres.ts';
import { startRedis } from '../fixtures/redis.ts';
import { type Sandbox, startSandbox } from '../fixtures/sandbox.ts';
import { openTerminal } from '../fixtures/terminal.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Pages about other programs, which their own tests carry out: containers.test.ts and pipelines.test.ts. */
const ownTests: readonly string[] = ['containers.md', 'pipelines.md'];
const guides = readdirSync(join(root, 'docs/guides'))
  .filter((name) => !ownTests.includes(name))
  .map((name) => `docs/guides/${name}`);

interface Block {
  readonly text: string;
  readonly isShell: boolean;
  /** What the page says below the block that it prints, word by word. */
  readonly prints: readonly string[];
}

/** The code blocks of a page. Every block is for a shell or for Node, so that none is left out for its language. */
function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$(?=\n*(.*))/gm)];
  return blocks.map(([, language = '', block = '', below = '']) => {
    expect(['sh', 'js']).toContain(language);
    const [, said = ''] = /^It prints (.*?)\.(?:\s|$)/.exec(below) ?? [];
    return {
      text: block,
      isShell: language === 'sh',
      prints: [...said.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words),
    };
  });
}

/** What a page needs beside the sandbox: a test replaces the addresses of example.com by those of its servers. */
interface PageServers {
  readonly sandboxOptions: readonly string[];
  readonly sandboxEnv?: Readonly<Record<string, string>>;
  readonly replace: (sandbox: Sandbox, folders: Folders) => Readonly<Record<string, string>>;
}

const servers: Readonly<Record<string, () => Promise<PageServers>>> = {
  'docs/guides/change-window.md': async () => {
    const [source, target, staging] = await Promise.all([postgres(17, 'shop'), postgres(18), postgres(18)]);
    const cache = await startRedis();
    onTestFinished(() => cache.stop());
    return {
      sandboxOptions: [],
      // As the page sets them.
      sandboxEnv: {
        CLOUDCTL_CLUSTER_SHOP: `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres`,
        CLOUDCTL_CLUSTER_CACHE: `redis://127.0.0.1:${cache.port}`,
      },
      replace: ({ clusters }) => ({
        'CLOUDCTL_TARGET_PASSWORD=…': `CLOUDCTL_TARGET_PASSWORD=${target.password}`,
        'CLOUDCTL_REHEARSE_INTO_PASSWORD=…': `CLOUDCTL_REHEARSE_INTO_PASSWORD=${staging.password}`,
        'PGPASSWORD=…': `PGPASSWORD=${source.password}`,
        'postgres://mover@db.example.com/shop': addressOf(source, 'shop'),
        'postgres://admin@cluster.example.com:25061/defaultdb': addressOf(target, 'postgres'),
        'postgres://admin@staging.example.com/postgres': addressOf(staging, 'postgres'),
        '3b643ad7-65aa-4066-b45b-1c64b6db600a': uuidOf(clusters, 'shop'),
      }),
    };
  },
  'docs/guides/migrate-postgresql.md': async () => {
    const [source, target] = await Promise.all([postgres(17, 'shop'), postgres(18)]);
    return {
      sandboxOptions: ['--cluster', `moved=postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres`],
      replace: ({ clusters }) => ({
        'PGPASSWORD=…': `PGPASSWORD=${source.password}`,
        'CLOUDCTL_TARGET_PASSWORD=…': `CLOUDCTL_TARGET_PASSWORD=${target.password}`,
        'postgres://mover@db.example.com/shop': addressOf(source, 'shop'),
        'postgres://admin@cluster.example.com:25061/shop': addressOf(target, 'shop'),
        '3b643ad7-65aa-4066-b45b-1c64b6db600a': uuidOf(clusters),
      }),
    };
  },
  'docs/guides/conformance.md': async () => ({
    sandboxOptions: [],
    // The page is about a checkout; the test runs in an empty folder.
    replace: ({ auth_url, base_url }, { home }) => ({
      'npm run conformance': `npm --prefix '${root}' run --silent conformance`,
      'https://cloud.example.com': auth_url,
      'https://api.example.com': base_url,
      'conformance.xml': join(home, 'conformance.xml'),
    }),
  }),
  'docs/guides/fleet.md': async () => ({
    sandboxOptions: [],
    // The broker is the user of the sandbox, the folder of the machine is in the same home folder.
    replace: ({ base_url }, { home, config, state }) => ({
      'https://api.example.com': base_url,
      '"ssh", "-o", "BatchMode=yes", "cloudctl@broker.example.com"': `"env", "CLOUDCTL_CONFIG_DIR=${config}", "CLOUDCTL_STATE_DIR=${state}"`,
      '/etc/cloudctl': join(home, 'etc'),
    }),
  }),
  'docs/guides/inventory.md': async () => {
    const [first, second] = await Promise.all([postgres(17, 'shop'), postgres(18, 'shop')]);
    return {
      sandboxOptions: [],
      replace: () => ({
        'PGPASSWORD=…': `PGPASSWORD=${first.password}`,
        'postgres://mover@db1.example.com/shop': addressOf(first, 'shop'),
        'postgres://mover@db1.example.com/postgres': addressOf(first, 'postgres'),
        'postgres://mover@db2.example.com/shop': addressOf(second, 'shop'),
      }),
    };
  },
  'docs/guides/migrate-redis.md': async () => {
    const [source, target] = await Promise.all([startRedis(), startRedis()]);
    for (const server of [source, target]) onTestFinished(() => server.stop());
    source.cli('SET', 'greeting', 'hello');
    return {
      sandboxOptions: ['--cluster', `moved=redis://127.0.0.1:${target.port}`],
      replace: ({ clusters }) => ({
        'export REDISCLI_AUTH=… CLOUDCTL_TARGET_PASSWORD=…': ':',
        'rediss://db.example.com:6379': `redis://127.0.0.1:${source.port}`,
        'rediss://cluster.example.com:25061': `redis://127.0.0.1:${target.port}`,
        '9cc10173-e9ea-4176-9dbc-a4cee4c4ff30': uuidOf(clusters),
      }),
    };
  },
};

/** A server whose only fault is a table that no replica can update. */
async function postgres(version: 17 | 18, database?: string): Promise<Postgres> {
  const server = await startPostgres({ version, settings: ready, direct: true });
  onTestFinished(async () => void (await server.stop()));
  if (database === undefined) return server;
  await server.query(`CREATE DATABASE ${database}`);
  await server.query('CREATE TABLE visits (id serial, at timestamptz DEFAULT now())', database);
  await server.query('INSERT INTO visits SELECT; UPDATE visits SET at = now()', database);
  return server;
}

function addressOf({ port }: Postgres, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}?sslmode=disable`;
}

function uuidOf(clusters: Sandbox['clusters'], wanted = 'moved'): string {
  return clusters.find(({ name }) => name === wanted)?.uuid ?? '';
}

/** `cloudctl` on the path. A login, which opens no browser without a terminal, has its address visited. */
function programFolder(folders: Folders): string {
  const folder = join(folders.home, 'bin');
  mkdirSync(folder);
  const login = join(folder, 'login.cjs');
  const program = `
const { spawn } = require('node:child_process');
const { get } = require('node:http');
const words = process.argv.slice(2);
const visit = (url) => get(url, (answer) => {
  answer.resume();
  if (answer.headers.location) visit(new URL(answer.headers.location, url));
});
const child = spawn(${JSON.stringify(node)}, [${JSON.stringify(bin)}, ...words], {
  stdio: ['inherit', 'inherit', 'pipe'],
});
let printed = '';
child.stderr.setEncoding('utf8').on('data', (text) => {
  process.stderr.write(text);
  const before = printed;
  printed += text;
  const found = /^https?:.*authorize.*$/m.exec(printed);
  if (found !== null && !/^https?:.*authorize.*$/m.test(before)) visit(found[0]);
});
child.on('exit', (code) => process.exit(code ?? 1));
`;
  writeFileSync(login, program);
  const file = join(folder, 'cloudctl');
  const choice = `case " $* " in *' auth login '*) exec '${node}' '${login}' "$@" ;; *) exec '${node}' '${bin}' "$@" ;; esac`;
  writeFileSync(file, `#!/bin/sh\n${choice}\n`);
  chmodSync(file, 0o755);
  return folder;
}

/**
 * The command that runs a block of JavaScript. Its package `testcontainers` starts the program instead of a container, waits as
 * it says, and ends it; the ports of the example are free ones of this machine.
 */
function nodeCommand(block: string, folders: Folders, at: number): string {
  const folder = join(folders.home, 'node_modules', 'testcontainers');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module","exports":"./index.js"}');
  const fake = `
import { spawn } from 'node:child_process';
export const Wait = { forHttp: (path, port) => ({ path, port }) };
export class GenericContainer {
  withCommand(words) { this.words = words; return this; }
  withEnvironment(env) { this.env = env; return this; }
  withExposedPorts(...ports) { this.ports = ports; return this; }
  withWaitStrategy(wait) { this.wait = wait; return this; }
  async start() {
    const words = [${JSON.stringify(bin)}, ...this.words, '--no-profile'];
    // \`sandbox env\` of the page has set variables that a container does not have.
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('CLOUDCTL_') || name.endsWith('_DIR'));
    const child = spawn(process.execPath, words, { env: { ...Object.fromEntries(own), ...this.env }, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    if (!this.ports.some(({ host }) => host === this.wait.port)) throw new Error('the port is not published');
    for (let tries = 0; ; tries += 1) {
      const response = await fetch(\`http://localhost:\${this.wait.port}\${this.wait.path}\`).catch(() => undefined);
      if (response?.status === 200) break;
      if (tries > 200 || child.exitCode !== null) throw new Error('the container is not ready');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return { stop: () => { child.kill('SIGTERM'); return ended; } };
  }
}
`;
  writeFileSync(join(folder, 'index.js'), fake);
  const file = join(folders.home, `block-${at}.mjs`);
  writeFileSync(file, block.replaceAll('8080', '18080').replaceAll('8081', '18081'));
  return `'${node}' '${file}'`;
}

/** The fixture runs it with the options of the test. */
const sandboxStart = 'cloudctl sandbox start';

/** Lines of npm, which .ci/run and scripts/package.mjs run, by what these contain. */
const runByCi: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'npm ci && npm run demo': ['.ci/run', 'step npm run --silent demo'],
  'npm ci && npm test': ['.ci/run', 'step tests test\n'],
  [`sudo apt install ./dist-packages/cloudctl_${manifest.version}_amd64.deb`]: [
    'test/standalone/packages.test.ts',
    '-i "$2"',
  ],
  [`npm install -g ./dist-packages/cloudctl-${manifest.version}.tgz`]: [
    'scripts/package.mjs',
    "npm(['install', '--global'",
  ],
};

const counts = { run: 0, all: 0 };
afterAll(() => console.log(`${counts.run} of ${counts.all} code blocks run`));

test.for(guides)('every code block of %s works', { timeout: 180_000 }, async (page, { skip }) => {
  skip(lacks(...(/migrate-|inventory|window/.test(page) ? ['psql', 'redis-server'] : [])));
  const blocks = blocksOf(page);
  counts.all += blocks.length;
  expect(blocks).not.toEqual([]);
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const needed = await servers[page]?.();
  const options = ['--consent', 'approve maya@example.com', ...(needed?.sandboxOptions ?? [])];
  const sandbox = await startSandbox(folders, options, needed?.sandboxEnv);
  onTestFinished(async () => void (await sandbox.stop()));
  const folder = programFolder(folders);
  const script = blocks.flatMap((block, at) => [
    ...(block.isShell
      ? block.text.split('\n').filter((line) => line !== sandboxStart && !isRunByCi(line))
      : [nodeCommand(block.text, folders, at)]),
    `echo ${at + 1} >>"$HOME/blocks"`,
  ]);
  const text = Object.entries(needed?.replace(sandbox, folders) ?? {}).reduce((all, [example, real]) => {
    expect(all).toContain(example);
    return all.replaceAll(example, real);
  }, script.join('\n'));
  const ran = await startProgram('bash', ['-euo', 'pipefail', '-c', text], {
    folders,
    limit: 150_000,
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      CLOUDCTL_CREDENTIAL_STORE: 'file',
      // Before a login in the guide: the user of the sandbox in this shell.
      ...(text.includes('auth login') ? {} : { ...sandbox.env, CLOUDCTL_ACCESS_TOKEN: await tokenOf(sandbox) }),
    },
  }).ended;
  expect({ code: ran.code, stderr: ran.code === 0 ? '' : `${ran.stdout}${ran.stderr}` }).toEqual({
    code: 0,
    stderr: '',
  });
  for (const { text: block, prints } of blocks)
    for (const words of [...prints, ...[...block.matchAll(/\|\| echo "([^"]*)"/g)].map(([, said = '']) => said)])
      expect(ran.stdout.split('\n')).toContain(words);
  const done = readFileSync(join(folders.home, 'blocks'), 'utf8').trim().split('\n').length;
  counts.run += done;
  expect(done).toBe(blocks.length);
});

test('every code block of README.md works as pasted in a clone', { timeout: 180_000 }, async () => {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  // What a clone has once its first block has run.
  for (const name of ['bin', 'dist', 'scripts', 'node_modules', 'package.json'])
    symlinkSync(join(root, name), join(folders.work, name));
  const blocks = blocksOf('README.md');
  counts.all += blocks.length;
  const lines = blocks.flatMap(({ text }) => text.split('\n').filter((line) => !isRunByCi(line)));
  const script = ['set -m', "trap 'kill %1' EXIT", ...lines, 'cd /', 'cloudctl --version'].join('\n');
  const shell = startProgram('bash', ['-euo', 'pipefail', '-c', script], { folders, limit: 150_000 });
  const [address = ''] = await shell.waitFor('stderr', /^http\S+authorize\S+$/m);
  await visit(address, () => undefined);
  const { code, stdout, stderr } = await shell.ended;
  expect({ code, stderr: code === 0 ? '' : `${stdout}${stderr}` }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/\bapp-0[123]\b/g)?.length).toBeGreaterThanOrEqual(6);
  expect(stdout).toContain('REPLICA IDENTITY FULL');
  counts.run += blocks.length;
});

// Without bracketed paste the program that runs reads the lines that the shell has not read yet.
test.for(['bash', 'zsh'])(
  'the second block of README.md works as pasted into %s, line by line',
  { timeout: 120_000 },
  async (name, { skip }) => {
    skip(lacks('tmux', name));
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    for (const file of ['bin', 'dist']) symlinkSync(join(root, file), join(folders.work, file));
    const browser = join(folders.home, 'browser');
    const visitor = `import('${root}scripts/page-visitor.mjs').then(({ visit }) => visit(process.argv[1], () => undefined))`;
    writeFileSync(browser, `#!/bin/sh\nsleep 1\nexec '${node}' -e "${visitor}" "$1"\n`);
    chmodSync(browser, 0o755);
    const block = blocksOf('README.md').find(({ text }) => text.includes('auth login'))?.text ?? '';
    const words = name === 'bash' ? ['--noprofile', '--norc', '-i'] : ['-f', '-i'];
    const shell = await openTerminal(name, words, {
      folders,
      columns: 200,
      rows: 60,
      env: { BROWSER: browser, PS1: '> ', PATH: `${dirname(node)}:${process.env.PATH}` },
    });
    onTestFinished(() => shell.close());
    for (const line of block.trimEnd().split('\n')) {
      await shell.type(line);
      await shell.press('Enter');
    }
    const screen = await shell.waitFor(/^app-03 +created[\s\S]*^\d+ +app-03 /m, 20_000);
    expect(screen).not.toContain('warning:');
    await shell.type('kill %1; wait; exit');
    await shell.press('Enter');
    await shell.ended();
  },
);

test('every command in the table of from-doctl.md works', { timeout: 120_000 }, async () => {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const sandbox = await startSandbox(folders, ['--consent', 'approve maya@example.com']);
  onTestFinished(async () => void (await sandbox.stop()));
  const env = {
    PATH: `${programFolder(folders)}:${process.env.PATH}`,
    ...{ CLOUDCTL_CREDENTIAL_STORE: 'file', CLOUDCTL_SCOPE: 'read write', ...sandbox.env },
  };
  const runLine = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await startProgram('sh', ['-euc', line], { folders, limit: 60_000, env }).ended;
    expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
    return stdout.trim();
  };
  const firstId = (list: string): Promise<string> => runLine(`cloudctl ${list} --format ID --no-header | sed -n 1p`);
  const rows = readFileSync(join(root, 'docs/guides/from-doctl.md'), 'utf8').match(/^\|.*cloudctl.*\|$/gm) ?? [];
  const lines = rows.flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`(cloudctl [^`]+)`/g)]);
  expect(lines.length).toBeGreaterThan(9);
  await runLine('cloudctl auth setup --profile work');
  for (const [, line = ''] of lines) {
    const id = /\d{7,}/.exec(line)?.[0] ?? '';
    const real = id === '' ? '' : await firstId(line.includes('actions') ? 'actions list' : 'droplets list');
    await runLine(line.replace(id, real));
  }
});

describe.skipIf(lacks('psql', 'redis-server', 'jq'))('the code blocks of other pages', () => {
  /** The block of a page that has these words; of a console the line after the prompt, and what it prints. */
  function blockWith(page: string, words: string): { readonly line: string; readonly printed: string } {
    const all = [...readFileSync(join(root, page), 'utf8').matchAll(/^```(?:sh|console)\n([\s\S]*?)^```$/gm)];
    const [block = '', ...others] = all.map(([, text = '']) => text).filter((text) => text.includes(words));
    expect([page, others]).toEqual([page, []]);
    const [, line, printed] = /^\$ (.*)\n([\s\S]*)$/.exec(block) ?? ['', block, ''];
    return { line: line ?? '', printed: printed ?? '' };
  }

  async function runBlock(script: string, env: Readonly<Record<string, string>>): Promise<Ran & { work: string }> {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const path = `${programFolder(folders)}:${process.env.PATH}`;
    const ran = await startProgram('bash', ['-euo', 'pipefail', '-c', script], {
      folders,
      limit: 60_000,
      env: { ...env, PATH: path },
    }).ended;
    expect({ code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({ code: 0, stderr: '' });
    return { ...ran, work: folders.work };
  }

  test('docs/preflight.md writes reports, docs/migration.md compares', { timeout: 120_000 }, async () => {
    const [source, target] = await Promise.all([postgres(17), postgres(18)]);
    for (const server of [source, target]) {
      await server.query('CREATE DATABASE shop');
      await server.query('CREATE TABLE orders (id int PRIMARY KEY); INSERT INTO orders VALUES (1), (2)', 'shop');
    }
    const env = { PGPASSWORD: source.password, CLOUDCTL_TARGET_PASSWORD: target.password };
    const { line: check } = blockWith('docs/preflight.md', 'cloudctl db preflight');
    const checked = await runBlock(`${check.trim()} --allow-private`, { ...env, SOURCE: addressOf(source, 'shop') });
    expect(readdirSync(checked.work).sort()).toEqual(['preflight.html', 'preflight.sarif']);
    const { line: compare } = blockWith('docs/migration.md', 'cloudctl db compare');
    const real = compare
      .replace('postgres://mover@db.example.com/shop', addressOf(source, 'shop'))
      .replace('postgres://admin@cluster.example.com:25061/defaultdb', addressOf(target, 'postgres'));
    const { work } = await runBlock(real, env);
    expect(readFileSync(join(work, 'comparison.json'), 'utf8')).toContain('orders');
  });

  test('docs/migration.md takes the cause from a line of db watch', async () => {
    const { line, printed } = blockWith('docs/migration.md', 'cloudctl db watch');
    const [, filter = ''] = /^cloudctl db watch [^|]+ \| (jq .*)$/.exec(line) ?? [];
    const lines = [{ state: 'syncing' }, { state: 'stopped', cause: { ...JSON.parse(printed), since: 1 } }];
    const script = `printf '%s\\n' "$LINES_OF_WATCH" | ${filter}`;
    const { stdout } = await runBlock(script, { LINES_OF_WATCH: lines.map((one) => JSON.stringify(one)).join('\n') });
    expect(stdout).toBe(printed);
  });

  test('docs/fix-scripts.md runs the commands of a script', { timeout: 60_000 }, async () => {
    const acl = ['user default on nopass ~* &* +@all', 'user mover on >pw ~* &* +@all -psync -sync -replconf'];
    const source = await startRedis({ acl });
    onTestFinished(() => source.stop());
    const { line } = blockWith('docs/fix-scripts.md', 'redis-cli');
    const address = `redis://mover@127.0.0.1:${source.port}`;
    const preflight = `cloudctl db preflight --source ${address} --allow-private --target-version 8.0 -o json`;
    const script = [
      `${preflight} --fix-sql fix.txt >before.json || test $? = 3`,
      line.replace('cache.example.com -p 6379', `127.0.0.1 -p ${source.port}`),
      `${preflight} >after.json`,
    ];
    const { work } = await runBlock(script.join('\n'), { REDISCLI_AUTH: 'pw' });
    const verdicts = ['before', 'after'].map((name) => JSON.parse(readFileSync(join(work, `${name}.json`), 'utf8')));
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['scan', 'continuous']);
  });
});

function isRunByCi(line: string): boolean {
  const place = runByCi[line];
  if (place === undefined) return false;
  expect(readFileSync(join(root, place[0]), 'utf8')).toContain(place[1]);
  return true;
}

async function tokenOf(sandbox: Sandbox): Promise<string> {
  const { body } = await sandbox.admin('POST', '/_sandbox/tokens', { user: 'maya@example.com', scope: 'read write' });
  return String((body as { readonly access_token?: unknown }).access_token);
}
