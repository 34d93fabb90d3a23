// `npm run test:alone`: every test file in a vitest process of its own and its tests in a shuffled order, so that none
// leans on another. `-- --seconds 240` starts no file after that time; which files those are is chance.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { root, suite } from './suite.mjs';

const words = process.argv.slice(2);
const seconds = words[0] === '--seconds' ? Number(words[1]) : Number.POSITIVE_INFINITY;
const paths = words[0] === '--seconds' ? words.slice(2) : words;
const seed = randomInt(1_000_000);
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
    .map((item) => ({ item, at: randomInt(2 ** 32) }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
