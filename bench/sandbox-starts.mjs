// `npm run bench:sandbox-starts`: how long startSandbox of cloudctl/sandbox takes until the sandbox answers a request: the first
// one of a new process, with the import, the next ones, many at once in one process, and those with 25,000 saved droplets: from a
// journal with a line for each creation, and from the rewritten one.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../scripts/run-vitest.mjs';
import { buildProgram, isShort, judge } from './options.mjs';

const library = pathToFileURL(join(root, 'dist/library/sandbox.js')).href;
/** Milliseconds until one sandbox is ready. */
const startBound = 250;
const processes = isShort ? 1 : 15;
const following = isShort ? 2 : 30;
const atOnce = isShort ? 3 : 50;
const droplets = isShort ? 200 : 25_000;
/** Milliseconds until a sandbox with so many droplets is ready. */
const savedBound = 1000;

if (process.argv[2] === 'child') await measure();
else await main();

async function main() {
  await buildProgram();
  const runs = Array.from({ length: processes }, () => {
    const { stdout } = spawnSync(process.execPath, [import.meta.filename, 'child', ...process.argv.slice(2)], {
      encoding: 'utf8',
    });
    return JSON.parse(stdout);
  });
  const summary = (name) => {
    const times = runs.flatMap((run) => run[name]).sort((one, other) => one - other);
    return { median: times[Math.floor(times.length / 2)], worst: times.at(-1) };
  };
  console.log(
    `node ${process.versions.node}, ${processes} processes; milliseconds until a sandbox answers a request\n`,
  );
  report('first of a process, with the import', summary('first'));
  report('following', summary('following'));
  report(`${atOnce} at once, for each`, summary('atOnce'));
  report(`with ${droplets} droplets, each a line`, summary('changes'), savedBound);
  report(`with ${droplets} droplets, rewritten`, summary('rewritten'), savedBound);
}

function report(name, { median, worst }, bound = startBound) {
  console.log(
    `${name.padEnd(40)}median ${median.toFixed(1)}, worst ${worst.toFixed(1)}  <= ${bound}  ${judge(median <= bound)}`,
  );
}

async function measure() {
  const first = await timed(async () => (await import(library)).startSandbox());
  const { startSandbox } = await import(library);
  const next = [];
  for (let at = 0; at < following; at++) next.push(await timed(startSandbox));
  const started = performance.now();
  const many = await Promise.all(Array.from({ length: atOnce }, () => timed(startSandbox)));
  const perSandbox = (performance.now() - started) / many.length;
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
  try {
    const startSaved = () => startSandbox({ stateFolder: folder });
    await stop(await startSaved());
    appendDroplets(join(folder, 'journal'));
    const changes = await timed(startSaved, stop);
    const rewritten = await timed(startSaved, stop);
    const figures = {
      first: [first],
      following: next,
      atOnce: [perSandbox],
      changes: [changes],
      rewritten: [rewritten],
    };
    console.log(JSON.stringify(figures));
  } finally {
    rmSync(folder, { recursive: true });
  }
  process.exit();
}

/** Writes what a sandbox writes that created one droplet after the other. */
function appendDroplets(path) {
  const [head] = readFileSync(path, 'utf8').split('\n');
  const { people, firstId } = JSON.parse(head).seed;
  const [account, region, at] = [people[0].uuid, 'fra1', Date.now()];
  const spec = { size: 's-1vcpu-1gb', image: 155_133_621, tags: ['bench'], features: [] };
  for (let count = 0; count < droplets; count++) {
    const id = firstId + 1000 + 2 * count;
    const droplet = { ...spec, region, id, account, name: `web-${count}`, createdAt: at, activeAt: at + 5000 };
    const action = { id: id + 1, account, type: 'create', droplet: id, region, startedAt: at, completedAt: at + 5000 };
    const change = { put: { nextId: id + 2, droplets: [droplet], actions: [action] }, drop: {} };
    appendFileSync(path, `${JSON.stringify(change)}\n`);
  }
}

function stop(sandbox) {
  return sandbox.stop();
}

async function timed(start, end = async (_) => {}) {
  const begun = performance.now();
  const sandbox = await start();
  const { status } = await fetch(`${sandbox.apiUrl}/v2/account`);
  if (status !== 401) throw new Error(`the sandbox replied with ${status}`);
  const taken = performance.now() - begun;
  await end(sandbox);
  return taken;
}
