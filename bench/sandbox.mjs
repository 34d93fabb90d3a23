// `npm run bench:sandbox`: how long a token exchange and an API call take, as a multiple of a bare node:http server that
// answers fixed bodies in the same run; and what it takes to list 100 000 droplets page by page. `-- --droplets 20000`
// measures another number.
import { execFileSync, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../scripts/sandbox.mjs';
import { listen } from './logged-in.mjs';
import { buildProgram, isShort, judge, readOptions } from './options.mjs';

const rounds = isShort ? 2 : 150;
const pairs = isShort ? 5 : 25;
/** A ratio, and a growth in MB while every page is read twice. */
const bounds = { bare: 2, memory: 30 };

if (process.send === undefined) await main();
else serveFixedBodies();

async function main() {
  const values = readOptions({ droplets: '100000' }, { droplets: '400' });
  await buildProgram();
  const home = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
  const folders = { CLOUDCTL_CONFIG_DIR: join(home, 'config'), CLOUDCTL_STATE_DIR: join(home, 'state') };
  const sandbox = await startSandbox({ ...process.env, ...folders });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  try {
    console.log(`node ${process.versions.node}\n`);
    await sandbox.approve(sandbox.ready.users[0].email);
    await compare(sandbox.ready, agent);
    await list(sandbox, agent, Number(values.droplets));
  } finally {
    agent.destroy();
    await sandbox.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** What disturbs a run only ever makes it longer, so the best rounds are compared; the two servers take turns. */
async function compare(ready, agent) {
  const [exchange] = await exchanges(ready, agent, 1);
  const grant = await ask(agent, ready.auth_url, 'POST', exchange);
  const page = await ask(agent, ready.base_url, 'GET', '/v2/droplets', bearer(grant));
  const bare = await startBare([grant, page]);
  const times = { sandbox: [], bare: [] };
  try {
    for (let round = -2; round < rounds; round++) {
      const targets = await exchanges(ready, agent, pairs);
      const ours = await timed(async () => {
        for (const target of targets) {
          const answer = await ask(agent, ready.auth_url, 'POST', target);
          await ask(agent, ready.base_url, 'GET', '/v2/droplets', bearer(answer));
        }
      });
      const theirs = await timed(async () => {
        for (const target of targets) {
          const answer = await ask(agent, bare.origins[0], 'POST', target);
          await ask(agent, bare.origins[1], 'GET', '/v2/droplets', bearer(answer));
        }
      });
      if (round < 0) continue;
      times.sandbox.push(ours / pairs);
      times.bare.push(theirs / pairs);
    }
  } finally {
    bare.stop();
  }
  const [ours, theirs] = [Math.min(...times.sandbox), Math.min(...times.bare)];
  console.log(`token exchange and API call, best of ${rounds} rounds of ${pairs}`);
  console.log(`  bare node:http  ${theirs.toFixed(3)} ms`);
  console.log(`  sandbox         ${ours.toFixed(3)} ms  ${verdict(ours / theirs, bounds.bare)}\n`);
}

/** Targets of the token endpoint, each with a code that is still unused. */
async function exchanges({ auth_url, client_id, client_secret, callback_url }, agent, count) {
  const authorization = new URLSearchParams({
    client_id,
    redirect_uri: callback_url,
    response_type: 'code',
    scope: 'read write',
  });
  const targets = [];
  for (let at = 0; at < count; at++) {
    const { headers } = await ask(agent, auth_url, 'GET', `/v1/oauth/authorize?${authorization}`);
    const code = new URL(headers.location).searchParams.get('code');
    const query = { grant_type: 'authorization_code', code, client_id, client_secret, redirect_uri: callback_url };
    targets.push(`/v1/oauth/token?${new URLSearchParams(query)}`);
  }
  return targets;
}

async function list({ ready, pid }, agent, wanted) {
  const [target] = await exchanges(ready, agent, 1);
  const authorization = bearer(await ask(agent, ready.auth_url, 'POST', target));
  const filling = await timed(() => fill(ready, agent, authorization, wanted));
  const readAll = async (filter) => {
    const took = [];
    let path = `/v2/droplets?per_page=200${filter}`;
    let seen = 0;
    while (path !== undefined) {
      const started = performance.now();
      const { body } = await ask(agent, ready.base_url, 'GET', path, authorization);
      took.push(performance.now() - started);
      const { droplets, links } = JSON.parse(body);
      seen += droplets.length;
      const next = links.pages?.next;
      path = next === undefined ? undefined : next.slice(ready.base_url.length);
    }
    return { seen, took };
  };
  await readAll('');
  const before = memoryOf(pid);
  const { seen, took } = await readAll('');
  const growth = memoryOf(pid) - before;
  const edge = Math.max(1, Math.floor(took.length / 10));
  console.log(`${seen} droplets, created in ${(filling / 1000).toFixed(1)} s, in ${took.length} pages of 200`);
  console.log(`  first tenth     ${median(took.slice(0, edge)).toFixed(2)} ms a page`);
  console.log(`  last tenth      ${median(took.slice(-edge)).toFixed(2)} ms a page`);
  console.log(`  memory          ${before.toFixed(0)} MB, ${verdict(growth, bounds.memory, 'MB more')}`);
  const tagged = await readAll('&tag_name=bench');
  console.log(`  by tag          ${median(tagged.took).toFixed(2)} ms a page`);
}

/** Ten names a request, eight requests at a time. */
async function fill(ready, agent, headers, wanted) {
  let next = 0;
  const lane = async () => {
    while (next < wanted) {
      const from = next;
      next += 10;
      const names = Array.from({ length: Math.min(10, wanted - from) }, (_, at) => `n${from + at}`);
      const body = JSON.stringify({ names, size: 's-1vcpu-1gb', image: 'debian-12-x64', tags: ['bench'] });
      const type = { 'content-type': 'application/json', 'content-length': String(body.length) };
      const { status } = await ask(agent, ready.base_url, 'POST', '/v2/droplets', { ...headers, ...type }, body);
      if (status !== 202) throw new Error(`a creation was answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

function ask(agent, origin, method, path, headers = {}, body = undefined) {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${origin}${path}`, { agent, method, headers }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode, headers: incoming.headers, body: text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function bearer({ body }) {
  return { authorization: `Bearer ${JSON.parse(body).access_token}` };
}

/** A process of its own with two ports, as the sandbox is; each repeats one answer, byte for byte, whatever it is asked. */
async function startBare(answers) {
  const child = fork(process.argv[1]);
  child.send(answers);
  /** @type {number[]} */
  const ports = await new Promise((resolve) => child.once('message', resolve));
  return { origins: ports.map((port) => `http://127.0.0.1:${port}`), stop: () => child.kill() };
}

function serveFixedBodies() {
  process.once('message', async (/** @type {{ headers: object, body: string }[]} */ answers) =>
    process.send(await Promise.all(answers.map(serveFixedBody))),
  );
}

function serveFixedBody({ headers, body }) {
  const { connection: _, 'keep-alive': __, ...head } = headers;
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.writeHead(200, head).end(body));
  });
  return listen(server);
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Resident memory in MB. */
function memoryOf(pid) {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
}

function median(numbers) {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function verdict(number, bound, unit = '') {
  return `${number.toFixed(2)} ${unit} <= ${bound}  ${judge(number <= bound)}`.replace('  <=', ' <=');
}
