// `npm run docs`: generates pages of docs/ from the sources, man pages, and their list in package.json. A test fails when they are out of date.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { benchmarkPages } from '../bench/page.mjs';
import { apiReport, declarations, reportPath } from './library.mjs';
import { root } from './run-vitest.mjs';

const { generatedDocs } = await load('test/fixtures/generated-docs.ts');
const { truthPage } = await load('test/truth/page.ts');
// Everything is computed before anything is removed: a source that does not compile leaves the pages as they are.
const pages = {
  [reportPath]: apiReport(declarations(root)),
  ...(await generatedDocs()),
  'docs/truth.md': truthPage(),
  ...benchmarkPages(),
};
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// npm links what `man` lists; a folder in `directories.man` is only read when a package is published.
const manPages = Object.keys(pages).filter((file) => file.startsWith('man/'));
manifest.man = manPages.sort().map((file) => `./${file}`);
rmSync(join(root, 'man'), { recursive: true, force: true });
for (const [file, text] of Object.entries(pages)) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}
writeFileSync(join(root, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

/** Imports a TypeScript module. It is built inside the project, where its packages are found, and as deep below it as the fixtures, which read files by
 * their own place. */
async function load(source) {
  const folder = join(root, '.side', `docs.${process.pid}`);
  const outfile = join(folder, `${basename(source, '.ts')}.mjs`);
  mkdirSync(folder, { recursive: true });
  try {
    const entryPoints = [join(root, source)];
    await build({
      entryPoints,
      outfile,
      bundle: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      logLevel: 'error',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
