// `npm test`: everything that must hold, in stages. `npm test -- --stage unit,e2e` runs some of them, `npm test -- test/cli`
// only the tests under a path. The last line is `N passed, N failed`, with `, N skipped` when something was left out.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { checkPackage } from './package.mjs';
import { missingPostgres } from './postgres-binaries.mjs';
import { otherNode } from './side.mjs';
import { root, run, suite } from './suite.mjs';
import { installCommand, installPrograms, lowest, missingPrograms, nodeIsOld } from './toolchain.mjs';

/** In CI what is missing is a failure; a person's machine may do without, and is told what was not tested. */
const ci = !['', '0', 'false', undefined].includes(process.env.CI);

/** Each stage resolves with its counts; a stage that is no test suite counts nothing unless it fails. */
const stages = {
  toolchain,
  lint: () => tool('@biomejs/biome/bin/biome', 'check', '--error-on-warnings'),
  types: () => tool('typescript/bin/tsc'),
  unused: () => tool('knip/bin/knip.js'),
  build: async () => (await build()) && {},
  unit: () => suite(['--project', 'light', '--project', 'unit', '--maxWorkers', '3']),
  package: () => checkPackage(otherNode('20.18.1'), ci),
  e2e: () => suite(['--project', 'e2e', '--maxWorkers', '3']),
  hard: () => suite(['--project', 'hard', '--passWithNoTests']),
  'e2e-node24': () => onNode24((env) => suite(['--project', 'e2e', '--maxWorkers', '3', ...dependOnNode()], env)),
};

const total = { passed: 0, failed: 0, skipped: 0 };
const words = process.argv.slice(2);
for (const [name, stage] of chosen(words)) {
  const started = performance.now();
  console.log(`\n== ${name}`);
  const counts = await attempt(stage);
  for (const key of Object.keys(total)) total[key] += counts[key] ?? 0;
  const verdict = counts.failed > 0 ? 'failed' : 'passed';
  console.log(`== ${name} ${verdict} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : 0;

function chosen(given) {
  const paths = given.filter((word) => !word.startsWith('-') && existsSync(join(root, word)));
  const named = given.flatMap((word, at) => (given[at - 1] === '--stage' ? word.split(',') : []));
  const strange = given.filter(
    (word, at) => word !== '--stage' && given[at - 1] !== '--stage' && !paths.includes(word),
  );
  const unknown = named.filter((name) => !(name in stages));
  if (strange.length > 0 || unknown.length > 0) {
    console.error(`no such path, option or stage: ${[...strange, ...unknown].join(' ')}`);
    console.error(`usage: npm test -- [--stage ${Object.keys(stages).join(',')}] [PATH...]`);
    process.exit(2);
  }
  if (paths.length > 0) return [['tests', () => suite(paths)]];
  return Object.entries(stages).filter(([name]) => named.length === 0 || named.includes(name));
}

async function attempt(stage) {
  try {
    return await stage();
  } catch (error) {
    console.error(error);
    return { failed: 1 };
  }
}

async function toolchain() {
  if (nodeIsOld()) {
    return failure(
      `node ${process.versions.node} is too old to develop cloudctl: ${lowest.join('.')} or newer is needed`,
    );
  }
  const lacking = missingPostgres();
  if (lacking !== undefined) return failure(`PostgreSQL ${lacking} could not be fetched from the registry`);
  const missing = missingPrograms();
  if (missing.length === 0 || installPrograms(missing)) return {};
  const what = `missing: ${missing.join(', ')}; install with: ${installCommand(missing)}`;
  if (ci) return failure(what);
  console.log(`${what}\nthe tests that need them are skipped`);
  return {};
}

async function tool(script, ...args) {
  const code = await run(process.execPath, [join(root, 'node_modules', script), ...args]);
  return code === 0 ? {} : failure(`${script} ended with ${code}`);
}

async function onNode24(test) {
  const binary = otherNode('24');
  if (binary !== undefined) return test({ CLOUDCTL_TEST_NODE: binary });
  if (ci) return failure('node 24 could not be installed from the registry');
  console.log('node 24 could not be installed from the registry: the end-to-end tests are not repeated on it');
  return { skipped: 1 };
}

/** What other servers and databases do is the same on every Node: a third of the time, for nothing that the rest does not show. */
function dependOnNode() {
  const folder = 'test/e2e';
  const rooms = readdirSync(join(root, folder)).filter((room) => room !== 'db' && room !== 'other-server');
  return [...rooms, 'db/healthy.test.ts', 'db/migrate.test.ts', 'db/passwords.test.ts'].map(
    (room) => `${folder}/${room}`,
  );
}

function failure(text) {
  console.error(text);
  return { failed: 1 };
}
