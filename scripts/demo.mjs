// `npm run demo`: a session with the embedded sandbox: login, droplets, and the migration of a database from the first
// preflight to its end. Nothing is written to the user's own folders. `node scripts/demo.mjs db preflight …` runs only that
// command, with the source of the demo as CLOUDCTL_SOURCE.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { buildIfOlder } from './build-before-tests.mjs';
import { databaseStory } from './demo-database.mjs';
import { startServers } from './demo-servers.mjs';
import { visit } from './page-visitor.mjs';
import { root } from './run-vitest.mjs';
import { startSandbox } from './sandbox.mjs';

const bin = join(root, 'bin/cloudctl.cjs');
const ownBrowser = process.argv.includes('--browser');
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-demo-'));
const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CLOUDCTL_'));
const env = {
  ...Object.fromEntries(inherited),
  CLOUDCTL_CONFIG_DIR: join(folder, 'config'),
  CLOUDCTL_STATE_DIR: join(folder, 'state'),
  CLOUDCTL_PROFILE: 'sandbox',
  // The demo is the person who signs in, also on a CI machine, and nobody is there to leave a pager.
  CI: '',
  PAGER: 'cat',
};

const begun = Date.now();
const ownCommand = process.argv.slice(2).filter((word) => word !== '--browser');
if (ownCommand.length === 0 || !existsSync(join(root, 'dist'))) {
  tell('Building cloudctl, unless it is newer than its sources …');
  await buildIfOlder();
}
let servers;
let sandbox;
try {
  servers = await startServers(tell);
  if (ownCommand.length > 0) process.exitCode = await runOwn(ownCommand);
  else await wholeStory();
} finally {
  await sandbox?.stop();
  await servers?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function wholeStory() {
  tell('Starting the sandbox: an authorization server, a resource API and a control panel on this machine.');
  const { CLOUDCTL_PROFILE: _later, ...sandboxEnv } = env;
  sandbox = await startSandbox({ ...sandboxEnv, ...servers?.environment });
  await story(sandbox.ready);
}

/** In the folder of the user, to whom the files belong that it writes. Returns its exit code. */
async function runOwn(words) {
  if (servers === undefined) return 1;
  const { CLOUDCTL_PROFILE: _none, ...rest } = env;
  const { port, password } = servers.source;
  const CLOUDCTL_SOURCE = `postgres://postgres@127.0.0.1:${port}/shop?sslmode=disable`;
  const own = { ...rest, CLOUDCTL_SOURCE, PGPASSWORD: password };
  prompt(words);
  const child = spawn(process.execPath, [bin, ...words], { env: own, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return code ?? 1;
}

async function story({ auth_url: authUrl, base_url: baseUrl, users, clusters }) {
  // Only its owner can migrate into a cluster; without servers, the login shows a team.
  const { owner } = clusters.find(({ data_plane: plane }) => plane !== 'none') ?? {};
  const person = users.find(({ uuid, teams }) => (owner === undefined ? teams.length > 0 : uuid === owner)) ?? users[0];
  tell(`It listens on ${authUrl} and ${baseUrl}. The commands that a user would type:`);
  await login(person);
  await command(['auth', 'status']);
  await command(['actions', 'list']);
  await command([
    'droplets',
    'create',
    '--names',
    'app-{01..03},app-db',
    '--size',
    's-1vcpu-1gb',
    '--image',
    'ubuntu-24-04-x64',
    '--region',
    'nyc3',
  ]);
  await command(['droplets', 'list']);
  if (servers !== undefined) await databaseStory({ ...servers, clusters, folder, tell, command });
  await command(['auth', 'logout']);
  tell(`
Done in ${((Date.now() - begun) / 1000).toFixed(1)} s; All servers are stopped and their folders are removed.
To continue on your own, put cloudctl on your path, and start a sandbox, which prints the accounts to sign in with:
  npm install -g ./
  cloudctl sandbox start
In another terminal:
  cloudctl --profile sandbox auth login
  cloudctl --profile sandbox droplets list
  cloudctl --help`);
}

/** Logs in through the pages with a minimal browser; with --browser in the user's own. */
async function login(person) {
  const words = ['auth', 'login', '--scope', 'read write'];
  if (ownBrowser) {
    tell(
      `Your browser opens. Sign in as ${person.email} with the password ${person.password}, and authorize the application.`,
    );
    return command(words);
  }
  prompt(words);
  const child = spawn(process.execPath, [bin, ...words], { cwd: folder, env, stdio: ['ignore', 'inherit', 'pipe'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = await addressOn(child.stderr);
  const last = await visit(url, (page) => {
    if (page.html.includes('name="password"')) {
      tell(`  (page "${page.title}": signing in as ${person.email})`);
      return { email: person.email, password: person.password };
    }
    if (!page.html.includes('value="approve"')) return undefined;
    tell(`  (page "${page.title}": authorizing for the team ${person.teams[0]?.name ?? 'none'})`);
    return { decision: 'approve', ...(person.teams[0] && { account: person.teams[0].uuid }) };
  });
  tell(`  (page "${last.title}")`);
  check(await ended, words);
}

/** Forwards everything and resolves with the authorization URL, which is alone on its line. */
function addressOn(stream) {
  let text = '';
  return new Promise((resolve, reject) => {
    stream.setEncoding('utf8').on('data', (chunk) => {
      process.stderr.write(chunk);
      text += chunk;
      const found = /^(http\S+)\n/m.exec(text);
      if (found !== null) resolve(found[1]);
    });
    stream.on('end', () => reject(new Error('the login ended without printing a URL')));
  });
}

async function command(words, { env: more = {}, code = 0 } = {}) {
  prompt(words);
  const child = spawn(process.execPath, [bin, ...words], { cwd: folder, env: { ...env, ...more }, stdio: 'inherit' });
  check(await new Promise((resolve) => child.once('close', resolve)), words, code);
}

function check(code, words, expected = 0) {
  if (code !== expected) throw new Error(`cloudctl ${words.join(' ')} ended with ${code}`);
}

function prompt(words) {
  const typed = words
    .map((word) => (/^[\w./,:@=-]+$/.test(word) ? word : word.includes('{') ? `'${word}'` : `"${word}"`))
    .join(' ');
  process.stdout.write(`\n${styleText(['bold', 'cyan'], `$ cloudctl ${typed}`)}\n`);
}

function tell(text) {
  process.stdout.write(`${text}\n`);
}
