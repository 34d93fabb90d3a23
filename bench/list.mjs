// `npm run bench:list`: how fast `droplets list -o ndjson` prints 100,000 droplets, as a part of the rate of a bare loop that
// reads the same pages and throws them away. Both are processes of their own, timed from their start to their end.
// `-- --droplets 3000` measures another number.
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.mjs';
import { filledSandbox } from './filled-sandbox.mjs';
import { runProgram, runScript } from './program.mjs';

const { values } = parseArgs({ options: { droplets: { type: 'string', default: '100000' } } });
const rounds = 3;
/** Part of the bare loop's rate, and MB. */
const bounds = { rate: 0.7, memory: 120 };

await build();
const sandbox = await filledSandbox(Number(values.droplets));
try {
  const pages = Math.ceil(sandbox.total / 200);
  console.log(`${sandbox.total} droplets on ${pages} pages, node ${process.versions.node}, best of ${rounds}\n`);
  const [own, bare] = [[], []];
  for (let round = 0; round < rounds; round++) {
    bare.push(await loop(pages));
    own.push(await list());
  }
  report(own, bare);
} finally {
  await sandbox.stop();
}

/** Seconds to read every page over one connection that is kept. */
async function loop(pages) {
  const env = { ...sandbox.env, ORIGIN: sandbox.origin, PAGES: String(pages) };
  return (await runScript('bench/bare-list.mjs', [], env)).seconds;
}

async function list() {
  const ran = await runProgram(['droplets', 'list', '-o', 'ndjson'], sandbox.env);
  if (ran.lines !== sandbox.total) throw new Error(`${ran.lines} of ${sandbox.total} droplets were listed`);
  return ran;
}

function report(own, bare) {
  const [ours, theirs] = [Math.min(...own.map(({ seconds }) => seconds)), Math.min(...bare)];
  const memory = Math.max(...own.map(({ memory: peak }) => peak));
  const ratio = theirs / ours;
  line('bare loop', rate(theirs), '');
  line('cloudctl droplets list', rate(ours), `${ratio.toFixed(2)}x  >= ${bounds.rate}  ${judge(ratio >= bounds.rate)}`);
  line('peak memory', `${memory.toFixed(0)} MB`, `       <= ${bounds.memory}  ${judge(memory <= bounds.memory)}`);
}

function rate(seconds) {
  return `${Math.round(sandbox.total / seconds)}/s`;
}

function line(name, value, verdict) {
  console.log(`${name.padEnd(24)}${value.padStart(10)}  ${verdict}`.trimEnd());
}

function judge(isKept) {
  if (!isKept) process.exitCode = 1;
  return isKept ? 'ok' : 'MISSED';
}
