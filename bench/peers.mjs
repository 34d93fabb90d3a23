// `npm run bench:peers`: CPU time of four everyday commands of cloudctl beside those of similar tools, in one run. gh is the
// Debian package, wrangler comes from the npm registry; both are installed into .side/. doctl is measured where `-- --doctl FILE`
// names it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install, side } from '../scripts/extra-packages.mjs';
import { startSandbox } from '../scripts/sandbox.mjs';
import { bareNode, measureCpuTime } from './cpu-time.mjs';
import { bareEnvironment, bin, listen, logIn, profileFolders } from './logged-in.mjs';
import { buildProgram, isShort, readOptions, record } from './options.mjs';

const values = readOptions({ rounds: '20', doctl: undefined }, { rounds: '1' });
const rounds = Number(values.rounds);
const listed = 20;
const measures = ['start', 'token', 'list', 'help'];
const ghWords = {
  start: ['--version'],
  token: ['auth', 'token'],
  list: ['label', 'list', '-R', 'a/b'],
  help: ['--help'],
};

await buildProgram();
const home = mkdtempSync(join(tmpdir(), 'cloudctl-peers-'));
const sandbox = await startSandbox({ ...bareEnvironment(home), ...profileFolders(home, 'sandbox') });
const services = await startServices();
try {
  await main();
} finally {
  services.close();
  await sandbox.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

async function main() {
  const { tools, missing } = await findTools();
  const cases = {};
  const gaps = [];
  for (const tool of tools)
    for (const measure of measures) {
      const words = tool[measure];
      if (words === undefined) continue;
      const one = { words: [...tool.program, ...words], env: tool.env };
      const failure = await failureOf(one);
      if (failure === undefined) cases[`${tool.name} ${measure}`] = one;
      else gaps.push(`${tool.name}, ${measure}: ${failure}`);
    }
  const medians = await measureCpuTime(cases, { rounds, env: bareEnvironment(home) });
  const rows = tools.map(({ name, version }) => ({
    ...{ name, version },
    ...Object.fromEntries(measures.map((measure) => [measure, medians.get(`${name} ${measure}`)])),
  }));
  const bare = medians.get(bareNode).ms;
  record({ rounds, bare, tools: rows, missing, gaps });
  console.log(`CPU time, median of ${rounds}; \`${bareNode}\` takes ${bare.toFixed(0)} ms`);
  for (const row of rows)
    console.log([row.name.padEnd(16), ...measures.map((measure) => cellOf(row[measure]))].join(''));
  for (const name of missing) console.log(`${name} was not installed`);
  for (const gap of gaps) console.log(`not measured: ${gap}`);
}

function cellOf(median) {
  return (median === undefined ? '' : `${median.ms.toFixed(0)} ms (${median.ratio.toFixed(1)})`).padStart(18);
}

/** Each tool with the words of the four commands, where it has them, and the tools that could not be installed. */
async function findTools() {
  const bare = { ...bareEnvironment(home), NO_COLOR: '1' };
  // CI keeps the others from asking for updates; it would turn off the code cache of cloudctl, which a person's machine has.
  const env = { ...bare, CI: '1', NO_UPDATE_NOTIFIER: '1' };
  const first = sandbox.ready.users[0].email;
  await sandbox.approve(first);
  const cloudctl = await logIn(home, bare, sandbox.ready, { name: 'file', store: 'file', scope: 'read write' });
  const create = ['droplets', 'create', 'app-{01..17}', '--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];
  cloudctlOrThrow(cloudctl, ...create, '--region', 'nyc3', '--yes', '-q');
  const droplets = JSON.parse(cloudctlOrThrow(cloudctl, 'droplets', 'list', '-o', 'json'));
  if (droplets.length !== listed) throw new Error(`the sandbox lists ${droplets.length} droplets`);
  const token = cloudctlOrThrow(cloudctl, 'auth', 'token').trim();
  const api = `${sandbox.ready.base_url}/v2/droplets?per_page=200`;
  const origin = `http://127.0.0.1:${services.port}`;
  const npm = {
    wrangler: { list: ['d1', 'list'], help: ['--help'] },
  };
  const tools = [
    {
      ...{ name: 'cloudctl', program: [process.execPath, bin], env: cloudctl },
      ...{ start: ['--version'], token: ['auth', 'token'], list: ['droplets', 'list'], help: ['--help'] },
    },
    {
      ...{ name: 'curl', program: [onPath('curl')], env },
      ...{ start: ['--version'], list: ['-sS', '-H', `authorization: Bearer ${token}`, api], help: ['--help'] },
    },
    { name: 'gh', program: [onPath('gh') ?? debianProgram('gh')], env: ghEnvironment(env), ...ghWords },
    ...Object.entries(npm).map(([name, words]) => ({
      ...{ name, program: npmProgram(name), start: ['--version'], ...words },
      env: { ...env, ...cloudflare(origin), WRANGLER_SEND_METRICS: 'false' },
    })),
    {
      ...{ name: 'doctl', program: [values.doctl], env: { ...env, DIGITALOCEAN_ACCESS_TOKEN: token } },
      ...{ start: ['version'], token: ['auth', 'token'], help: ['--help'] },
      list: ['compute', 'droplet', 'list', '--api-url', sandbox.ready.base_url],
    },
  ];
  const isInstalled = ({ program }) => program.every((word) => word !== undefined);
  return {
    tools: tools.filter(isInstalled).map((tool) => ({ ...tool, version: versionOf(tool) })),
    missing: tools.filter((tool) => !isInstalled(tool)).map(({ name }) => name),
  };
}

/** gh speaks to the server of this file over a Unix socket, without TLS. */
function ghEnvironment(env) {
  const folder = join(home, 'gh');
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.yml'), `http_unix_socket: ${services.socket}\n`);
  writeFileSync(join(folder, 'hosts.yml'), 'github.com:\n    oauth_token: token\n    user: user\n');
  return { ...env, GH_CONFIG_DIR: folder, GH_NO_UPDATE_NOTIFIER: '1' };
}

function cloudflare(origin) {
  return { CLOUDFLARE_API_BASE_URL: origin, CLOUDFLARE_API_TOKEN: 'token', CLOUDFLARE_ACCOUNT_ID: 'account' };
}

/** Answers the list commands of the other tools with 20 items, on a port and on a Unix socket. */
async function startServices() {
  const items = (item) => Array.from({ length: listed }, (_, at) => item(`name-${at + 1}`));
  const created_at = '2026-01-01T00:00:00Z';
  const labels = items((name) => ({ name, color: 'ffffff', description: '', createdAt: created_at }));
  const pageInfo = { hasNextPage: false, endCursor: null };
  /** @type {[RegExp, object][]} */
  const answers = [
    [/graphql/, { data: { repository: { labels: { totalCount: listed, nodes: labels, pageInfo } } } }],
    [
      /d1\/database/,
      { success: true, errors: [], messages: [], result: items((name) => ({ uuid: name, name, created_at })) },
    ],
  ];
  /** @type {import('node:http').RequestListener} */
  const answer = ({ url }, reply) => {
    const [, body] = answers.find(([pattern]) => pattern.test(url)) ?? [undefined, {}];
    // wrangler reads pages until one is empty.
    if (/[?&]page=([2-9]|\d\d)/.test(url) && 'result' in body)
      return void reply.end(JSON.stringify({ ...body, result: [] }));
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const socket = join(home, 'http.sock');
  const servers = [createServer(answer), createServer(answer)];
  const port = await listen(servers[0]);
  await new Promise((resolve) => servers[1].listen(socket, () => resolve(undefined)));
  return { port, socket, close: () => servers.forEach((server) => void server.close()) };
}

function cloudctlOrThrow(env, ...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

function onPath(name) {
  return process.env.PATH.split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** The program of a Debian package, unpacked beside the project; undefined when the package cannot be had. */
function debianProgram(name) {
  const folder = join(side, 'peers', name);
  const program = join(folder, 'usr/bin', name);
  if (!existsSync(program) && !isShort) {
    mkdirSync(folder, { recursive: true });
    spawnSync('apt-get', ['download', name], { cwd: folder, stdio: 'ignore' });
    const [archive] = readdirSync(folder).filter((file) => file.endsWith('.deb'));
    if (archive !== undefined) spawnSync('dpkg', ['-x', archive, '.'], { cwd: folder, stdio: 'ignore' });
  }
  return existsSync(program) ? program : undefined;
}

function npmProgram(name) {
  const folder = join(side, 'peers', name);
  const program = join(folder, 'node_modules/.bin', name);
  if (!existsSync(program) && !isShort) install(folder, name);
  return [existsSync(program) ? program : undefined];
}

/** Runs the command once, without blocking the servers of this file; the reason why it cannot be measured, if any. */
async function failureOf(one) {
  try {
    await measureCpuTime({ command: one }, { rounds: 0, env: one.env });
    return undefined;
  } catch (error) {
    return error.message.split('\n')[0].slice(0, 120);
  }
}

function versionOf({ program, start, env }) {
  const [file, ...before] = program;
  const { stdout } = spawnSync(file, [...before, ...start], { env, encoding: 'utf8' });
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? '';
}
