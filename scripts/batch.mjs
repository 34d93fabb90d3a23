// `npm run test:batch`: 1,000 droplets under each fault of the server alone, under 30 schedules of them all, killed and
// resumed while another process renews the session, and under 30 schedules each of a server that normalises attributes, lags
// and commits late. Ends with a table of the schedules. The normal suite runs one of each.
//
// npm run test:batch [-- SCHEDULES [FILE...]]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from './run-vitest.mjs';

const [schedules = '30', ...files] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-schedules-'));
const table = join(folder, 'table.ndjson');
try {
  const words = ['--project', 'e2e', ...(files.length === 0 ? ['test/e2e/batch'] : files)];
  const { passed, failed, skipped } = await suite(words, {
    env: { CLOUDCTL_TEST_SCHEDULES: schedules, CLOUDCTL_TEST_SCHEDULE_TABLE: table },
  });
  printTable(readRows(table));
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function readRows(path) {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** One line for each kind of schedule; a schedule with a duplicate or a missing name has a line of its own below. */
function printTable(rows) {
  const sum = (some, key) => some.reduce((total, row) => total + row[key], 0);
  const keys = ['names', 'duplicates', 'missing', 'unknown', 'runs'];
  console.log(`\n${['schedules', ...keys].map((key) => key.padStart(10)).join(' ')}  kind: seeds`);
  for (const kind of new Set(rows.map(({ schedule }) => schedule))) {
    const some = rows.filter(({ schedule }) => schedule === kind);
    const numbers = [some.length, ...keys.map((key) => sum(some, key))];
    const seeds = some.map(({ seed }) => seed).sort((left, right) => left - right);
    console.log(`${numbers.map((number) => String(number).padStart(10)).join(' ')}  ${kind}: ${seeds.join(' ')}`);
  }
  for (const row of rows) if (row.duplicates + row.missing > 0) console.log(`not exactly once: ${JSON.stringify(row)}`);
  console.log();
}
