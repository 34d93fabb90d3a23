// `npm run test:runtimes`: what docs/without-node.md says of Bun and Deno. Installs them from the registry into a temporary folder
// and repeats end-to-end tests with them in the place of Node.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from './extra-packages.mjs';
import { suite } from './run-vitest.mjs';

/** Tests of what a runtime can change; none loads code of Node's own. */
const tests = [
  'db/healthy.test.ts',
  'db/passwords.test.ts',
  'keychain/session.test.ts',
  'keychain/unavailable.test.ts',
  'list/readers.test.ts',
  'login/code-flow.test.ts',
  'login/hosts.test.ts',
  'login/opener.test.ts',
  'login/streams.test.ts',
  'sandbox/state.test.ts',
].map((path) => `test/e2e/${path}`);

const folder = mkdtempSync(join(tmpdir(), 'cloudctl-runtimes-'));
try {
  for (const [name, words] of [
    ['bun', ''],
    ['deno', 'run -A'],
  ]) {
    if (!install(folder, name)) throw new Error(`${name} could not be installed from the registry`);
    const binary = join(folder, 'node_modules', '.bin', name);
    const runtime = join(folder, `run-${name}`);
    writeFileSync(runtime, `#!/bin/sh\nexec '${binary}' ${words} "$@"\n`);
    chmodSync(runtime, 0o755);
    const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
    console.log(`\n== ${name} ${stdout.split('\n')[0]}`);
    const counts = await suite([...tests, '--maxWorkers=2'], { env: { CLOUDCTL_TEST_NODE: runtime } });
    console.log(`== ${name}: ${counts.passed} passed, ${counts.failed} failed`);
    if (counts.failed > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
