// `npm test`: what a newcomer runs: lint, types, unused code, build, unit tests, and a short story with the built program.
// It needs Node and the installed packages only. `npm run test:all` runs everything else, with real servers, browser and
// keychain. Options: see `usage`. The last line is `N passed, N failed`, with `, N skipped` when something was left out.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { buildIfOlder } from './build-before-tests.mjs';
import { otherNode, pinnedNode } from './extra-packages.mjs';
import { checkPackage } from './package.mjs';
import { missingPostgres } from './postgres-binaries.mjs';
import { installCommand, installPrograms, lowest, missingPrograms, nodeIsOld } from './required-programs.mjs';
import { root, run, runQuietly, suite } from './run-vitest.mjs';
import { shapeLine } from './shape.mjs';
import { buildStandalone } from './standalone.mjs';

const usage = `usage: npm test -- [--stage NAME,NAME] [PATH...]
       npm run test:all -- [--stage NAME,NAME] [--install] [PATH...]
  --stage    only these stages
  --install  install missing Debian packages first (always done under CI)
  PATH       only the tests below these paths, of any stage`;

/** In CI a missing program is a failure; a person's machine may lack some, and the tests that need them are skipped. */
const isCi = !['', '0', 'false', undefined].includes(process.env.CI);
const { isAll, mayInstall, stageNames, paths } = readArguments(process.argv.slice(2));
/** Files that failed and were run again, each with both results. */
const secondRuns = [];

/** Tests of what the version of Node can change: native modules, processes, streams, sockets, TLS, terminals. */
const nodeTests = [
  'batch/disk.test.ts',
  'batch/full.test.ts',
  'batch/writers.test.ts',
  'bad-input/words.test.ts',
  'db/healthy.test.ts',
  'db/passwords.test.ts',
  'keychain/fast-path.test.ts',
  'keychain/file-store.test.ts',
  'keychain/session.test.ts',
  'list/readers.test.ts',
  'login/code-flow.test.ts',
  'login/hosts.test.ts',
  'login/streams.test.ts',
  'sandbox/state.test.ts',
  'session/test-build.test.ts',
  'terminal',
].map((path) => `test/e2e/${path}`);

/** Tests of what is different in the executable: locks, the keychain, the browser, the sandbox, a source, trust; none needs the program itself. */
const standaloneTests = [
  'test/standalone',
  ...[
    'db/healthy.test.ts',
    'keychain/session.test.ts',
    'login/code-flow.test.ts',
    'login/opener.test.ts',
    'sandbox/state.test.ts',
    'trust.test.ts',
  ].map((path) => `test/e2e/${path}`),
];

/** Each stage resolves with its counts; a stage that is no test suite counts nothing unless it fails. */
const quickStages = {
  node: async () => (nodeIsOld() ? failure(oldNode()) : {}),
  lint: () => tool('@biomejs/biome/bin/biome', 'check', '--error-on-warnings'),
  types: async () => {
    const [own, scripts] = [
      await tool('typescript/bin/tsc'),
      await tool('typescript/bin/tsc', '-p', 'tsconfig.scripts.json'),
    ];
    return { failed: (own.failed ?? 0) + (scripts.failed ?? 0) };
  },
  unused: () => tool('knip/bin/knip.js'),
  shape: () => console.log(shapeLine()) ?? {},
  build: async () => (await build()) && {},
  unit: () => suite(['--project', 'unit', '--maxWorkers', '3']),
  story: () => suite(['--project', 'story']),
};
const serverStages = {
  toolchain,
  servers: () => repeating(['--project', 'servers', '--maxWorkers', '4']),
  package: () => checkPackage(otherNode('20.18.1'), isCi),
  e2e: () => repeating(['--project', 'e2e', '--maxWorkers', '4']),
  hard: () => repeating(['--project', 'hard', '--passWithNoTests', '--maxWorkers', '3']),
  adversary: () => repeating(['--project', 'adversary', '--maxWorkers', '4']),
  standalone: () => onStandalone((env) => repeating([...standaloneTests, '--maxWorkers', '3'], env)),
  bench: benchmarks,
  'e2e-node24': () => onNode24((env) => repeating(['--project', 'e2e', '--maxWorkers', '3', ...nodeTests], env)),
};

const total = { passed: 0, failed: 0, skipped: 0 };
for (const [name, stage] of chosenStages()) {
  const started = performance.now();
  console.log(`\n== ${name}`);
  const counts = await attempt(stage);
  for (const key of Object.keys(total)) total[key] += counts[key] ?? 0;
  const result = counts.failed > 0 ? 'failed' : 'passed';
  console.log(`== ${name} ${result} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
if (secondRuns.length > 0) console.log(`\nfiles that needed a second run:\n${secondRuns.join('\n')}`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : 0;

function readArguments(args) {
  const values = { isAll: false, mayInstall: isCi, stageNames: [], paths: [] };
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === '--all') values.isAll = true;
    else if (word === '--install') values.mayInstall = true;
    else if (word === '--stage') values.stageNames.push(...(args[++at] ?? '').split(','));
    else if (!word.startsWith('-') && existsSync(join(root, word))) values.paths.push(word);
    else refuse(`unknown option or path: ${word}`);
  }
  return values;
}

function chosenStages() {
  if (paths.length > 0) return [['tests', () => repeating(paths)]];
  const stages = isAll ? serverStages : quickStages;
  const unknown = stageNames.filter((name) => !(name in stages));
  if (unknown.length > 0) refuse(`unknown stage: ${unknown.join(', ')} (known: ${Object.keys(stages).join(', ')})`);
  return Object.entries(stages).filter(([name]) => stageNames.length === 0 || stageNames.includes(name));
}

function refuse(text) {
  console.error(`${text}\n${usage}`);
  process.exit(2);
}

async function attempt(stage) {
  try {
    return await stage();
  } catch (error) {
    console.error(error);
    return { failed: 1 };
  }
}

/** Real servers, browsers and keychains answer late at times, so a few failed files are run again (docs/decisions/009). */
function repeating(words, env) {
  return suite(words, { env, onSecondRun: (line) => secondRuns.push(line) });
}

async function toolchain() {
  if (nodeIsOld()) return failure(oldNode());
  const major = missingPostgres();
  if (major !== undefined) return failure(`PostgreSQL ${major} could not be fetched from the registry`);
  const missing = missingPrograms();
  if (missing.length === 0 || (mayInstall && installPrograms(missing))) return {};
  const text = `missing: ${missing.join(', ')}; install with: ${installCommand(missing)}`;
  if (isCi) return failure(text);
  console.log(`${text}\nor run: npm run test:all -- --install\nthe tests that need them are skipped`);
  return {};
}

function oldNode() {
  return `node ${process.versions.node} is too old to develop cloudctl: ${lowest.join('.')} or newer is needed`;
}

async function tool(script, ...args) {
  const code = await run(process.execPath, [join(root, 'node_modules', script), ...args]);
  return code === 0 ? {} : failure(`${script} ended with ${code}`);
}

/** A short run of every benchmark, a few at a time: it fails when one ends with an error, whatever it measures. */
async function benchmarks() {
  const missing = missingPrograms();
  if (missing.length > 0 && !isCi) {
    console.log(`missing: ${missing.join(', ')}; the benchmarks are not run`);
    return { skipped: 1 };
  }
  await buildIfOlder();
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const waiting = Object.keys(scripts).flatMap((name) => /^node (bench\/.+)$/.exec(scripts[name])?.[1] ?? []);
  const counts = { passed: 0, failed: 0 };
  const lane = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const started = performance.now();
      const child = await runQuietly([join(root, file), '--short']);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      counts[child.code === 0 ? 'passed' : 'failed'] += 1;
      console.log(child.code === 0 ? `${file}: ${seconds} s` : `${file} ended with ${child.code}:\n${child.output}`);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return counts;
}

async function onNode24(test) {
  const binary = pinnedNode();
  if (binary !== undefined) return test({ CLOUDCTL_TEST_NODE: binary });
  if (isCi) return failure('node 24 could not be installed from the registry');
  console.log('node 24 could not be installed from the registry: the end-to-end tests are not repeated on it');
  return { skipped: 1 };
}

async function onStandalone(test) {
  return test({ CLOUDCTL_TEST_STANDALONE: await buildStandalone({ buildFirst: buildIfOlder }) });
}

function failure(text) {
  console.error(text);
  return { failed: 1 };
}
