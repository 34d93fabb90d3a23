import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'es-module-lexer';
import { build } from 'esbuild';

/**
 * Builds the program as ES modules: `main.js` with all that every start reads, and a chunk beside it for each lazy import.
 * By itself esbuild would cut the start into a file for each set of commands that shares a part of it, some thirty of
 * them, and each costs half a millisecond. So the start is one file, and the chunks import from it what they share.
 * `roots` are the modules whose exports `main.js` has; resolves with the metafiles.
 */
export async function buildProgram({ roots, from, ...options }) {
  const start = await findStart(roots, from, options);
  const chunks = await build({
    ...options,
    entryPoints: start.lazy,
    splitting: true,
    plugins: [sharing(start), lateChildProcess],
  });
  noneTwice(start, chunks.metafile, from);
  const contents = [...roots.map(everything), ...shared(start, chunks.metafile, from)].join('\n');
  const main = await build({
    ...options,
    stdin: { contents, resolveDir: from },
    entryNames: 'main',
    plugins: [lazily((path) => nameOf(start.lazy, path))],
  });
  return [main.metafile, chunks.metafile];
}

/** What the roots import at once, and what they or that import when it is wanted. */
async function findStart(roots, from, options) {
  const wanted = new Set();
  const { metafile } = await build({
    ...options,
    write: false,
    logLevel: 'silent',
    stdin: { contents: roots.map(everything).join('\n'), resolveDir: from },
    plugins: [lazily((path) => wanted.add(path) && path)],
  });
  const modules = Object.keys(metafile.inputs).filter((path) => path !== '<stdin>');
  const paths = modules.map((path) => join(from, path));
  const lazy = [...wanted].filter((path) => !paths.includes(path)).map((path) => [chunkName(path, from), path]);
  return { paths, lazy: Object.fromEntries(lazy) };
}

function everything(path) {
  return `export * from ${JSON.stringify(path)};`;
}

/** Hands every lazy import to `place`, which says by what address it is found at run time. */
function lazily(place) {
  return {
    name: 'lazily',
    setup(builder) {
      builder.onResolve({ filter: /./ }, async ({ path, kind, pluginData, ...where }) => {
        if (kind !== 'dynamic-import' || pluginData === 'seen') return undefined;
        const found = await builder.resolve(path, { ...where, kind, pluginData: 'seen' });
        const address = found.external || found.errors.length > 0 ? undefined : place(found.path);
        return address === undefined ? found : { path: address, external: true };
      });
    },
  };
}

/** In a chunk, a module of the start is a stub that takes its exports from `main.js`. */
function sharing(start) {
  return {
    name: 'sharing',
    setup(builder) {
      builder.onResolve({ filter: /^the-start$/ }, () => ({ path: './main.js', external: true, sideEffects: false }));
      // Each importer has a stub of its own: one for all would be a module that chunks share, and so a file of its own.
      let stub = 0;
      builder.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
        const found = join(resolveDir, path);
        return start.paths.includes(found) ? { path: found, suffix: `?${stub++}`, sideEffects: false } : undefined;
      });
      builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const at = start.paths.indexOf(path);
        if (at < 0) return undefined;
        const [, exported] = parse(readFileSync(path, 'utf8'));
        const names = exported.filter((found) => 'name' in found && !found.typeOnly).map((found) => found.name);
        return { contents: names.map((name) => `export { s${at}_${name} as ${name} } from 'the-start';`).join('\n') };
      });
    },
  };
}

/** The exports of `main.js` that the chunks have come to import. */
function shared(start, metafile, from) {
  const outputs = Object.keys(metafile.outputs).map((path) => readFileSync(join(from, path), 'utf8'));
  const clauses = outputs.flatMap((text) => [
    ...text.matchAll(/(?:import|export)\s*\{([^}]*)\}\s*from\s*"\.\/main\.js"/g),
  ]);
  const names = clauses.flatMap(([, clause]) => clause.split(',').map((part) => part.trim().split(' ')[0]));
  return [...new Set(names)].sort().map((alias) => {
    const [, at, name] = /^s(\d+)_(.+)$/.exec(alias);
    return `export { ${name} as ${alias} } from ${JSON.stringify(start.paths[at])};`;
  });
}

/**
 * commander loads node:child_process, at over a millisecond, for a kind of subcommand that cloudctl has none of. So it
 * is loaded when it is used.
 */
const lateChildProcess = {
  name: 'late-child-process',
  setup(builder) {
    builder.onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
      importer.includes('node_modules/commander/') ? { path, namespace: 'late' } : undefined,
    );
    builder.onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
      contents: `module.exports = { get spawn() { return require('${path}').spawn; } };`,
    }));
  },
};

/** A package in both would be two packages at run time. */
function noneTwice(start, metafile, from) {
  const both = Object.keys(metafile.inputs).filter(
    (path) => path.includes('node_modules/') && start.paths.includes(join(from, path)),
  );
  if (both.length > 0) throw new Error(`read at the start and by a lazy chunk as well: ${both.join(', ')}`);
}

function nameOf(lazy, path) {
  const found = Object.entries(lazy).find(([, source]) => source === path);
  return found && `./${found[0]}.js`;
}

/** `src/commands/auth/login.ts` becomes `commands-auth-login`, a package its own name. */
function chunkName(path, from) {
  const own = /^src\/(.+)\.ts$/.exec(relative(from, path))?.[1];
  const name = own ?? /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)[1];
  return name.replace('@', '').replaceAll('/', '-');
}
