// `npm run bench:report`: runs the benchmarks of docs/benchmarks.md one after the other and writes docs/benchmarks.json, with the
// commit, the date and the machine, and from it the page, its pictures and the numbers of the README. `--short` runs them shortly,
// as `npm run test:all` does with each, and writes into a temporary folder; `-- --size medium` measures smaller sizes in less time. A
// benchmark that fails is named on the page.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../scripts/run-vitest.mjs';
import { isShort, readOptions } from './options.mjs';
import { benchmarkPages } from './page.mjs';

/** Each with its options for the medium size; without options it has the sizes that its own bounds are for. */
const benchmarks = {
  startup: ['peers', '--rounds', '5'],
  batch: ['batch', '--names', '8000', '--most', '20000'],
  preflight: ['preflight', '--databases', '20'],
  copy: ['copy', '--rows', '100000'],
  cutover: ['cutover', '--tables', '50', '--rows', '200000', '--keys', '10000', '--rounds', '3'],
};
const { size } = readOptions({ size: 'full' }, {});
if (size !== 'full' && size !== 'medium') throw new Error(`--size is full or medium, not ${size}`);
const out = isShort ? mkdtempSync(join(tmpdir(), 'cloudctl-bench-report-')) : root;
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
try {
  main();
} finally {
  rmSync(folder, { recursive: true, force: true });
  if (isShort) rmSync(out, { recursive: true, force: true });
}

function main() {
  const result = { ...origin(), measured: {}, failed: {} };
  for (const [name, [script, ...medium]] of Object.entries(benchmarks)) {
    const more = isShort ? ['--short'] : size === 'medium' ? medium : [];
    const { numbers, failure, seconds } = measure(name, script, more);
    console.log(`== ${name}: ${failure ?? `${seconds.toFixed(0)} s`}\n`);
    if (failure === undefined) result.measured[name] = numbers;
    else result.failed[name] = failure;
  }
  write('docs/benchmarks.json', `${JSON.stringify(result, null, 2)}\n`);
  for (const [path, text] of Object.entries(benchmarkPages(result))) write(path, text);
  if (Object.keys(result.failed).length > 0) process.exitCode = 1;
}

function origin() {
  const git = (...words) => execFileSync('git', ['-C', root, ...words], { encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--', 'src', 'bench', 'package-lock.json') !== '';
  return {
    date: new Date().toISOString(),
    commit: `${git('rev-parse', '--short=10', 'HEAD')}${isChanged ? ' with changes' : ''}`,
    machine: {
      system: `${process.platform} ${release().split('-')[0]} ${process.arch}`,
      processor: cpus()[0]?.model.trim() ?? 'unknown processor',
      cores: cpus().length,
      memory: Math.round(totalmem() / 2 ** 30),
      node: process.versions.node,
      load: Number(loadavg()[0].toFixed(1)),
    },
  };
}

/** A bound that was missed is the exit code 1 too, but only a benchmark that ran to its end has written its numbers. */
function measure(name, script, more) {
  console.log(`== ${name}`);
  const file = join(folder, `${name}.json`);
  const words = [join(root, 'bench', `${script}.mjs`), ...more];
  const began = performance.now();
  const { status, signal } = spawnSync(process.execPath, words, {
    env: { ...process.env, BENCH_RESULT: file },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const seconds = (performance.now() - began) / 1000;
  if (existsSync(file)) return { numbers: JSON.parse(readFileSync(file, 'utf8')), seconds };
  return { failure: `bench/${script}.mjs ended with ${status ?? signal}`, seconds };
}

function write(path, text) {
  const file = join(out, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
