// `npm run docs`: generates pages of docs/ from the sources. A test fails when they are out of date.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './run-vitest.mjs';

const pages = await load('test/fixtures/generated-docs.ts');
for (const [file, text] of Object.entries(pages.generatedDocs())) writeFileSync(join(root, file), text);

async function load(source) {
  const { outputFiles } = await build({
    entryPoints: [join(root, source)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
