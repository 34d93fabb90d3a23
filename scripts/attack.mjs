// `npm run test:attack`: the attacks on the login helper, for each rule of SECURITY.md. With `-- --long` a million cases for each
// property and ten thousand broken requests for each fuzz. A rule without a test is a failure like one that does not hold.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './run-vitest.mjs';

/** The rules are numbered through in SECURITY.md. */
const rules = [...readFileSync(join(root, 'SECURITY.md'), 'utf8').matchAll(/^\d+\. /gm)].length;
const long = process.argv.includes('--long');
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-attack-'));
try {
  const report = join(folder, 'report.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const words = ['run', '--project', 'hard', 'test/attack', '--reporter=default', '--reporter=json'];
  const env = { ...process.env, ...(long ? { CLOUDCTL_TEST_RUNS: '1000000', CLOUDCTL_TEST_FUZZ: '10000' } : {}) };
  const patience = long ? ['--testTimeout=3600000'] : [];
  await run(process.execPath, [vitest, ...words, `--outputFile.json=${report}`, ...patience], { env });
  process.exitCode = tell(JSON.parse(readFileSync(report, 'utf8')));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function tell({ testResults, numPassedTests, numFailedTests }) {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  let bad = numFailedTests;
  console.log('');
  for (let rule = 1; rule <= rules; rule++) {
    const own = results.filter(({ fullName }) => rulesOf(fullName).includes(rule));
    const held = own.filter(({ status }) => status === 'passed').length;
    const verdict = own.length === 0 ? 'no test' : held === own.length ? 'holds' : 'BROKEN';
    if (own.length === 0) bad++;
    console.log(`rule ${String(rule).padStart(2)}  ${verdict.padEnd(7)}  ${held} of ${own.length} tests`);
  }
  console.log(`\n${numPassedTests} passed, ${bad} failed`);
  return bad > 0 ? 1 : 0;
}

/** `rule 8: …`, `rules 35 and 36: …`, `rules 11, 17, 18: …`. */
function rulesOf(name) {
  const [, numbers = ''] = /\brules? ([\d, and]+):/.exec(name) ?? [];
  return (numbers.match(/\d+/g) ?? []).map(Number);
}
