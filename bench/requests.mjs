// `npm run bench:requests`: how many requests `droplets create`, `--wait` and `droplets list NAME` send, for accounts with few
// and with many droplets. The clock of the sandbox is frozen, so droplets stay `new` and `--wait` continues for the time
// that is measured. `-- --names 3,10 --accounts 0,1000 --seconds 75 --program bin/cloudctl.cjs` measures other cases.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from '../scripts/run-vitest.mjs';
import { filledSandbox } from './filled-sandbox.mjs';
import { buildProgram, readOptions } from './options.mjs';

const values = readOptions(
  { names: '1,3,10,100,10000', accounts: '0,1000,25000', seconds: '75', program: undefined },
  { names: '3', accounts: '0,400', seconds: '1' },
);
const numbers = (list) => list.split(',').map(Number);
const attributes = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3'];
const parallel = 4;
const columns = ['account', 'names', 'create', 'to the first poll', 'per minute', 'list NAME'];

if (values.program === undefined) await buildProgram();
const program = resolve(values.program ?? join(root, 'bin/cloudctl.cjs'));
const cases = numbers(values.accounts).flatMap((account) => numbers(values.names).map((names) => ({ account, names })));
const rows = Array(cases.length);
const queue = [...cases.entries()];
const work = async () => {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) rows[next[0]] = await measure(next[1]);
};
await Promise.all(Array.from({ length: parallel }, work));
console.log(`| ${columns.join(' | ')} |\n|${columns.map(() => '---|').join('')}`);
for (const row of rows) console.log(`| ${row.map((cell) => cell.toLocaleString('en')).join(' | ')} |`);

async function measure({ account, names }) {
  const sandbox = await filledSandbox(account);
  try {
    await sandbox.freeze();
    const file = join(sandbox.env.HOME, 'names.txt');
    writeFileSync(file, Array.from({ length: names }, (_, at) => `node-${at + 1}\n`).join(''));
    const args = ['droplets', 'create', '--names-from', file, ...attributes, '--wait', '-o', 'ndjson'];
    const polledAt = await untilStopped(args, sandbox.env);
    const requests = await sandbox.requests();
    const created = requests.findLastIndex(({ method }) => method === 'POST') + 1;
    const waiting = requests.slice(created).map(({ at }) => at);
    const perMinute = Math.max(0, ...waiting.map((at, from) => countUntil(waiting.slice(from), at + 60_000)));
    await untilEnd(['droplets', 'list', 'node-1', '-o', 'json'], sandbox.env);
    const listed = (await sandbox.requests()).length;
    return [account, names, created, created + countUntil(waiting, polledAt), perMinute, listed];
  } finally {
    await sandbox.stop();
  }
}

function countUntil(times, end) {
  return times.filter((at) => at < end).length;
}

function start(args, env) {
  return spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Interrupts the program some time after its first poll. Resolves with the time of that poll. */
function untilStopped(args, env) {
  const child = start(args, env);
  child.stdout.resume();
  let [text, polledAt] = ['', undefined];
  child.stderr.on('data', (chunk) => {
    text += chunk;
    if (polledAt !== undefined || !/^\d+ of \d+ droplets active$/m.test(text)) return;
    polledAt = Date.now();
    setTimeout(() => child.kill('SIGINT'), Number(values.seconds) * 1000);
  });
  return new Promise((done, reject) =>
    child.once('close', (code) => {
      if (code === 130 && polledAt !== undefined) done(polledAt);
      else reject(new Error(`the program ended with ${code}: ${text.slice(-2000)}`));
    }),
  );
}

function untilEnd(args, env) {
  const child = start(args, env);
  child.stdout.resume();
  child.stderr.resume();
  return new Promise((done, reject) =>
    child.once('close', (code) => (code === 0 ? done(undefined) : reject(new Error(`the program ended with ${code}`)))),
  );
}
