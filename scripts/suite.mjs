import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Settings of the person or the machine that must not decide what a test says. */
const unwanted =
  /^(CLOUDCTL_.*|NODE_EXTRA_CA_CERTS|NODE_OPTIONS|(https?|all|no)_proxy|XDG_.*|DBUS_.*|PG.*|REDISCLI_AUTH|BROWSER)$/i;

/** Runs vitest over `words` with a HOME of its own and counts what its JSON report says. */
export async function suite(words, env = {}) {
  const home = mkdtempSync(join(tmpdir(), 'cloudctl-home-'));
  const report = join(home, 'report.json');
  try {
    mkdirSync(join(home, 'runtime'), { mode: 0o700 });
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await run(process.execPath, [vitest, 'run', ...reporters, ...words], {
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

function clean(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !unwanted.test(name)));
}

/** A run that failed without a failing test (no report, an error outside of tests, a file that does not load) is one failure. */
function count(report, code) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    const seen = JSON.parse(readFileSync(report, 'utf8'));
    counts.passed = seen.numPassedTests;
    counts.failed = seen.numFailedTests;
    counts.skipped = seen.numPendingTests + (seen.numTodoTests ?? 0);
  } catch (error) {
    if (error.code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}
