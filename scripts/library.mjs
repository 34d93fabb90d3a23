// Builds what other programs import (src/library) into dist/library: modules, and declarations in dist/library/types. Fails when
// the declarations differ from docs/library/api.txt, which `npm run docs` rewrites, so that no change of them goes unnoticed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { build as esbuild } from 'esbuild';

/** The parts of the package beside its program, by the name that `exports` of package.json gives them. */
export const parts = ['loopback', 'preflight', 'sandbox', 'session'];

/** CommonJS packages inside a module load built-in modules by require, which a module lacks. */
const requireOfModule =
  "import{createRequire as createRequireOfBundle}from'node:module';const require=createRequireOfBundle(import.meta.url);";

/** Builds into `folder`. `options` are those of the program (build.mjs). */
export async function buildLibrary(root, folder, options) {
  const entryPoints = Object.fromEntries(parts.map((name) => [name, join(root, 'src/library', `${name}.ts`)]));
  await esbuild({
    ...options,
    entryPoints,
    outdir: folder,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunk-[hash]',
    // The package is to stay small. A stack trace within the library names short functions; its errors have names of their own.
    minifyIdentifiers: true,
    plugins: [queriesWithoutIndent],
    banner: { js: requireOfModule },
  });
}

/** The indentation of SQL would be a part of the strings that are sent; files of queries and checks have no other strings of several lines. */
const queriesWithoutIndent = {
  name: 'queries-without-indent',
  setup(build) {
    build.onLoad(
      { filter: /[/\\]src[/\\]db[/\\]preflight[/\\]postgresql[/\\](?:queries|checks)[/\\][\w-]+\.ts$/ },
      ({ path }) => ({
        contents: readFileSync(path, 'utf8').replace(/\n +/g, '\n'),
        loader: 'ts',
      }),
    );
  },
};

/** The declarations of all parts by their path in the package, with the extension .js in their imports. */
export function declarations(root) {
  const folder = mkdtempSync(join(root, 'node_modules', '.cache-types-'));
  try {
    const config = join(folder, 'tsconfig.json');
    const types = join(folder, 'types');
    writeFileSync(
      config,
      JSON.stringify({
        extends: '../../tsconfig.json',
        compilerOptions: {
          noEmit: false,
          declaration: true,
          emitDeclarationOnly: true,
          stripInternal: true,
          outDir: types,
          rootDir: join(root, 'src'),
        },
        include: [join(root, 'src/**/*.d.ts')],
        files: parts.map((name) => join(root, 'src/library', `${name}.ts`)),
      }),
    );
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', config],
      {
        encoding: 'utf8',
      },
    );
    if (status !== 0) throw new Error(`tsc ended with ${status}: ${stdout}`);
    return reachable(types);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Declarations of other rooms that belong to the public API. */
const shared = ['sandbox/data-types.d.ts'];

function reachable(types) {
  const found = new Map();
  const pending = parts.map((name) => `library/${name}.d.ts`);
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (found.has(path)) continue;
    if (!path.startsWith('library/') && !shared.includes(path))
      throw new Error(`a part of the library exposes src/${path}`);
    const text = readFileSync(join(types, path), 'utf8');
    found.set(
      path,
      text.replace(/(from '|import\(')(\.[^']+)\.ts'/g, (_, start, specifier) => `${start}${specifier}.js'`),
    );
    for (const [, specifier] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)\.ts'/g))
      pending.push(posix.join(posix.dirname(path), `${specifier}.d.ts`));
  }
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}

export const reportPath = 'docs/library/api.txt';

/** The public API as one text. Throws when it contains `any`. */
export function apiReport(files) {
  const text = [...files].map(([path, content]) => `// ${path}\n${content.trim()}\n`).join('\n');
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  if (/\bany\b/.test(code)) throw new Error('the API of the library contains the type any');
  return text;
}

/** Writes the declarations into `folder`; throws when they are not those of the report. */
export function writeDeclarations(root, folder) {
  const files = declarations(root);
  const report = join(root, reportPath);
  if (!existsSync(report) || readFileSync(report, 'utf8') !== apiReport(files))
    throw new Error(`the API of the library has changed: run \`npm run docs\` and review ${reportPath}`);
  for (const [path, text] of files) {
    const target = join(folder, 'types', path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}
