// Sizes and bounds of the benchmarks. `--short` measures the smallest sizes and asserts no bound: it shows that a benchmark still
// runs, with the program as it was built before. `npm run test:all` runs each of them in this way.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.mjs';

export const isShort = process.argv.includes('--short');

/**
 * The values of the options: those that were given, or else the usual ones, or with `--short` the smallest ones.
 * @template {Record<string, string | undefined>} T
 * @param {T} usual an option without a usual value is undefined
 * @param {Partial<{ [K in keyof T]: string }>} short
 * @returns {T}
 */
export function readOptions(usual, short) {
  const specs = Object.fromEntries([...Object.keys(usual), 'short'].map((name) => [name, specOf(name)]));
  const { short: _, ...given } = parseArgs({ options: specs }).values;
  return { ...usual, ...(isShort ? short : {}), ...given };
}

/** @param {string} name */
function specOf(name) {
  return { type: /** @type {'boolean' | 'string'} */ (name === 'short' ? 'boolean' : 'string') };
}

/** Builds the program, unless the benchmark only has to run. */
export async function buildProgram() {
  if (!isShort) await build();
}

/** Hands the numbers over to bench/report.mjs, if that started this benchmark. */
export function record(/** @type {object} */ measured) {
  const { BENCH_RESULT: file } = process.env;
  if (file !== undefined) writeFileSync(file, JSON.stringify(measured));
}

/** The word for a bound; one that was missed is the exit code 1. */
export function judge(/** @type {boolean} */ isKept) {
  if (isKept) return 'ok';
  if (isShort) return 'not judged';
  process.exitCode = 1;
  return 'MISSED';
}
