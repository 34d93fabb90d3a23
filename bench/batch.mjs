// `npm run bench:batch`: how many names a second `droplets create` does, as a part of what a bare loop does that sends the
// same POSTs over as many connections, and how much memory a hundred times the names cost. Both are programs, and are measured
// as what a run of many names takes longer than one of few, so that starting them and reading what exists are left out. Two
// servers: one that answers at once, and one that takes a little for each POST, though far less than one behind a network.
// A machine is not as quick in one minute as in the next, so the two take turns, each pair of runs gives a ratio, and the
// middle one of them is judged. Shown beside: the same loop in this process, where it was compiled long ago, which no program
// is when it begins, the loop itself included. `-- --names 3000 --most 20000` measures other numbers.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../scripts/run-vitest.mjs';
import { bareLoop } from './bare-loop.mjs';
import { filledSandbox } from './filled-sandbox.mjs';
import { buildProgram, isShort, judge, readOptions, record } from './options.mjs';
import { runProgram } from './program.mjs';

const values = readOptions({ names: '10000', most: '100000' }, { names: '20', most: '40' });
const few = isShort ? 10 : 1_000;
const some = Number(values.names);
const most = Number(values.most);
/** Odd, so that one is in the middle. */
const rounds = isShort ? 1 : 5;
const [batchSize, connections] = [10, 4];
const attributes = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3' };
const work = { attributes, batchSize, connections };
/** What the server takes for a POST, in milliseconds. */
const delays = isShort ? [10] : [0, 10];
/** Part of the bare loop's rate, and MB that `most` names may take more than `few`. */
const bounds = { rate: 0.8, growth: 20 };

await buildProgram();
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
try {
  console.log(`${batchSize} names a request, ${connections} requests in flight, node ${process.versions.node}`);
  const servers = [];
  for (const delay of delays) servers.push(await compare(delay, few + some));
  if (!isShort) servers.push(await compare(0, most));
  const memory = [];
  for (const names of [few, most]) memory.push({ names, megabytes: (await fresh(names, 0, run)).memory });
  reportMemory(memory);
  record({ rounds, batchSize, connections, servers, memory });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function compare(delay, many) {
  const contestants = { own: create, cold: program, warm: loop };
  const taken = { own: [], cold: [], warm: [] };
  for (let round = 0; round < rounds; round++) {
    const turns = Object.keys(contestants);
    for (const name of round % 2 === 0 ? turns : turns.reverse()) {
      const seconds = await fresh(many, delay, contestants[name]);
      taken[name].push(seconds - (await fresh(few, delay, contestants[name])));
    }
  }
  console.log(`\nthe ${many - few} names after the first ${few}, middle of ${rounds}, ${serverOf(delay)}`);
  const rate = (name) => (many - few) / middle(taken[name]);
  const ratios = (name) => taken[name].map((seconds, round) => seconds / taken.own[round]);
  line('bare loop', shown(rate('cold')), '');
  line('bare loop, compiled before', shown(rate('warm')), `(cloudctl: ${middle(ratios('warm')).toFixed(2)}x)`);
  const ratio = middle(ratios('cold'));
  const range = `${Math.min(...ratios('cold')).toFixed(2)} to ${Math.max(...ratios('cold')).toFixed(2)}`;
  const verdict = `${ratio.toFixed(2)}x (${range})  >= ${bounds.rate}  ${judge(ratio >= bounds.rate)}`;
  line('cloudctl droplets create', shown(rate('own')), verdict);
  const rates = { cloudctl: rate('own'), 'bare loop': rate('cold'), 'bare loop, compiled before': rate('warm') };
  return { delay, names: many - few, rates };
}

function shown(rate) {
  return `${Math.round(rate)}/s`;
}

function middle(values) {
  return values.toSorted((one, other) => one - other)[(values.length - 1) / 2];
}

function serverOf(delay) {
  return delay === 0 ? 'a server that answers at once' : `a server that takes ${delay} ms`;
}

/** Each run has a sandbox of its own, so that none is slowed down by what another one made. */
async function fresh(count, delay, work) {
  const sandbox = await filledSandbox(0);
  try {
    if (delay > 0) await sandbox.slow('POST', '/v2/droplets', delay);
    return await work(
      sandbox,
      Array.from({ length: count }, (_, at) => `node-${at + 1}`),
    );
  } finally {
    await sandbox.stop();
  }
}

/** Each gives seconds. */
function loop(sandbox, names) {
  return bareLoop(sandbox, { ...work, names });
}

/** Of the loop alone. */
async function program({ origin, token }, { length: count }) {
  const words = [join(root, 'bench/bare-loop.mjs'), JSON.stringify({ ...work, count })];
  const env = { ...process.env, ORIGIN: origin, TOKEN: token };
  return Number(execFileSync(process.execPath, words, { env, encoding: 'utf8' }));
}

async function create(sandbox, names) {
  return (await run(sandbox, names)).seconds;
}

async function run({ env }, names) {
  const file = join(folder, 'names.txt');
  writeFileSync(file, `${names.join('\n')}\n`);
  const given = Object.entries(attributes).flatMap(([name, value]) => [`--${name}`, value]);
  const how = ['--batch-size', String(batchSize), '--concurrency', String(connections), '-o', 'ndjson'];
  const ran = await runProgram(['droplets', 'create', '--names-from', file, ...given, ...how], env);
  if (ran.lines !== names.length) throw new Error(`${ran.lines} rows for ${names.length} names`);
  return ran;
}

function reportMemory(memory) {
  const [small, large] = memory.map(({ megabytes }) => megabytes);
  const growth = large - small;
  console.log('\npeak memory');
  line(`${few} names`, `${small.toFixed(0)} MB`, '');
  const limit = `+${growth.toFixed(0)}  <= ${bounds.growth}  ${judge(growth <= bounds.growth)}`;
  line(`${most} names`, `${large.toFixed(0)} MB`, limit);
}

function line(name, value, verdict) {
  console.log(`${name.padEnd(28)}${value.padStart(10)}  ${verdict}`.trimEnd());
}
