// `npm run conformance`: plays the statements of test/conformance against the sandbox, or against the server that the options
// name (docs/guides/conformance.md). Node 20 runs no TypeScript, so they are bundled first.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { side } from './extra-packages.mjs';
import { root } from './run-vitest.mjs';

const bundle = join(side, `conformance-${process.pid}.mjs`);
mkdirSync(side, { recursive: true });
const end = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => end.abort(new Error('the test was cancelled')));
try {
  await build({
    entryPoints: [join(root, 'test/conformance/main.ts')],
    outfile: bundle,
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', logLevel: 'warning' },
  });
  const { main } = await import(pathToFileURL(bundle).href);
  process.exitCode = await main({
    words: process.argv.slice(2),
    env: process.env,
    print: (line) => console.log(line),
    note: (line) => console.error(line),
    signal: end.signal,
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = end.signal.aborted ? 130 : 1;
} finally {
  rmSync(bundle, { force: true });
}
