// `npm run test:alone`: every test file in a vitest process of its own and its tests in a shuffled order, so that none
// leans on another. `-- --seconds 240` starts no file after that time, `-- --seed 7` brings back an order that was seen.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root, suite } from './run-vitest.mjs';

const { values, positionals: paths } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const seconds = Number(values.seconds ?? Number.POSITIVE_INFINITY);
const seed = Number(values.seed ?? randomInt(1_000_000));
const chance = generator(seed);
const files = shuffled(list(paths));
const total = { passed: 0, failed: 0, skipped: 0 };
const bad = [];
const started = performance.now();
let next = 0;

// Two at once: the machines that run this have two cores.
await Promise.all([worker(), worker()]);
console.log(`\n${next} of ${files.length} files, seed ${seed}${bad.map((file) => `\nfailed alone: ${file}`).join('')}`);
console.log(`\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
process.exitCode = total.failed > 0 ? 1 : 0;

async function worker() {
  while (next < files.length && performance.now() - started < seconds * 1000) {
    const file = files[next++];
    const counts = await suite([file, '--sequence.shuffle.tests', `--sequence.seed=${seed}`, '--maxWorkers=1']);
    if (counts.failed > 0) bad.push(file);
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
}

function list(under) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'list', ...under, '--filesOnly', '--json'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the test files could not be listed: ${stderr}`);
  return JSON.parse(stdout).map((entry) => entry.file);
}

function shuffled(items) {
  return items
    .map((item) => ({ item, at: chance() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/** Numbers from 0 to 2^32, the same for the same seed (xorshift32). */
function generator(start) {
  let state = (start + 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state;
  };
}
