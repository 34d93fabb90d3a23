// `npm run bench:list`: how fast `droplets list -o ndjson` prints 100,000 droplets, as a part of the rate of a bare loop that
// reads the same pages and throws them away. `-- --droplets 3000` measures another number.
import { Pool } from 'undici';
import { filledSandbox } from './filled-sandbox.mjs';
import { buildProgram, isShort, judge, readOptions } from './options.mjs';
import { runProgram } from './program.mjs';

const values = readOptions({ droplets: '100000' }, { droplets: '400' });
const rounds = isShort ? 1 : 3;
/** Part of the bare loop's rate, which reads from this machine without a rate limit and parses nothing; and MB. */
const bounds = { rate: 0.2, memory: 120 };

await buildProgram();
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
  const pool = new Pool(sandbox.origin, { connections: 1 });
  const headers = { authorization: `Bearer ${sandbox.token}` };
  const begun = performance.now();
  for (let page = 1; page <= pages; page++) {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: `/v2/droplets?page=${page}&per_page=200`,
      headers,
    });
    if (statusCode !== 200) throw new Error(`page ${page} was answered ${statusCode}`);
    for await (const _chunk of body);
  }
  const seconds = (performance.now() - begun) / 1000;
  await pool.close();
  return seconds;
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
