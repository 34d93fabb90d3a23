// `npm run bench:sandbox-starts`: how long startSandbox of cloudctl/sandbox takes until the sandbox answers a request: the first
// one of a new process, with the import, the next ones, and many at once in one process.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from '../scripts/build.mjs';
import { root } from '../scripts/run-vitest.mjs';

const library = pathToFileURL(join(root, 'dist/library/sandbox.js')).href;
/** Milliseconds until one sandbox is ready. */
const bound = 250;
const processes = 15;
const following = 30;
const atOnce = 50;

if (process.argv[2] === 'child') await measure();
else await main();

async function main() {
  await build();
  const runs = Array.from({ length: processes }, () => {
    const { stdout } = spawnSync(process.execPath, [import.meta.filename, 'child'], { encoding: 'utf8' });
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
}

function report(name, { median, worst }) {
  const verdict = median <= bound ? 'ok' : 'MISSED';
  console.log(`${name.padEnd(40)}median ${median.toFixed(1)}, worst ${worst.toFixed(1)}  <= ${bound}  ${verdict}`);
  if (median > bound) process.exitCode = 1;
}

async function measure() {
  const first = await timed(async () => (await import(library)).startSandbox());
  const { startSandbox } = await import(library);
  const next = [];
  for (let at = 0; at < following; at++) next.push(await timed(startSandbox));
  const started = performance.now();
  const many = await Promise.all(Array.from({ length: atOnce }, () => timed(startSandbox)));
  const perSandbox = (performance.now() - started) / many.length;
  console.log(JSON.stringify({ first: [first], following: next, atOnce: [perSandbox] }));
  process.exit();
}

async function timed(start) {
  const begun = performance.now();
  const sandbox = await start();
  const { status } = await fetch(`${sandbox.apiUrl}/v2/account`);
  if (status !== 401) throw new Error(`the sandbox replied with ${status}`);
  return performance.now() - begun;
}
