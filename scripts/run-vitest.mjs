import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Variables of the person or the machine that must not change what a test does. */
const unwanted =
  /^(CLOUDCTL_.*|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|NODE_OPTIONS|(https?|all|no)_proxy|XDG_.*|DBUS_.*|PG.*|REDISCLI_AUTH|BROWSER)$/i;

/** More failed files than this have another reason than a loaded machine. */
const secondRuns = 4;

/**
 * Runs vitest over `words` and counts. With `onSecondRun`, a few files that failed are run again, each alone, and reported
 * with both results: a test that fails for a reason fails twice, one that met a delay of the machine does not
 * (docs/decisions/009-second-run.md).
 * @param {readonly string[]} words
 * @param {{ env?: Record<string, string>, onSecondRun?: (line: string) => void }} options
 */
export async function suite(words, { env = {}, onSecondRun } = {}) {
  const first = await vitest(words, env);
  if (onSecondRun === undefined || first.bad.length === 0 || first.bad.length > secondRuns) return first.counts;
  const counts = { ...first.counts };
  for (const { file, ...before } of first.bad) {
    const options = words.filter((word) => word.startsWith('--sequence'));
    const { counts: after } = await vitest([file, ...options, '--maxWorkers=1'], env);
    const result = after.failed === 0 && after.passed > 0 ? 'passed' : 'failed';
    const line = `second run, alone: ${relative(root, file)} ${result}; the first run had ${before.failed} failures`;
    console.log(`\n${line}`);
    onSecondRun(line);
    for (const key of Object.keys(counts)) counts[key] += after[key] - before[key];
  }
  return counts;
}

/** One run with a HOME of its own. `bad`: the files that failed, when the report tells of tests in them. */
async function vitest(words, env) {
  const home = mkdtempSync(join(tmpdir(), 'cloudctl-home-'));
  const report = join(home, 'report.json');
  try {
    mkdirSync(join(home, 'runtime'), { mode: 0o700 });
    const program = join(root, 'node_modules/vitest/vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await run(process.execPath, [program, 'run', ...reporters, ...words], {
      env: { ...clean(process.env), HOME: home, XDG_RUNTIME_DIR: join(home, 'runtime'), ...env },
    });
    return count(report, code);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Runs a program in the project's folder with its output shown; resolves with its exit code. */
export function run(file, words, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, words, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? `signal ${signal}`));
  });
}

/** Runs a script of node; resolves with its exit code, or its signal, and what it printed. */
export function runQuietly(words) {
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: clean(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: code ?? `signal ${signal}`, output }));
  });
}

function clean(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !unwanted.test(name)));
}

/** What failed outside of a test (a hook, a file that does not load, a lost report) is one failure. */
function count(report, code) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const bad = [];
  try {
    for (const { name, status, assertionResults } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
      const of = (wanted) => assertionResults.filter((result) => result.status === wanted).length;
      const file = { passed: of('passed'), failed: of('failed') };
      if (status === 'failed' && file.failed === 0) file.failed = 1;
      file.skipped = assertionResults.length - file.passed - of('failed');
      for (const key of Object.keys(counts)) counts[key] += file[key];
      if (file.failed > 0) bad.push({ file: name, ...file });
    }
  } catch (error) {
    if (error.code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return { counts, bad };
}
