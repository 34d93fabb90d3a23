import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'es-module-lexer';
import { build, transform } from 'esbuild';
import { parseSync } from 'oxc-parser';
import { leanPackages } from './lean-packages.mjs';

/**
 * Builds the program into a few packs: CommonJS files with many modules each. esbuild splits the program into modules at its
 * lazy imports; a file for each of them took most of the start-up time, in the ESM loader and in opening files
 * (docs/decisions/026-start-up.md). The pack `entry` runs `entry`. Resolves with the metafiles.
 */
export async function buildPacks({ entry, outdir, ...options }) {
  const { outputFiles, metafile } = await build({
    ...options,
    outdir,
    format: 'esm',
    splitting: true,
    write: false,
    chunkNames: '[name]-[hash]',
    entryPoints: { entry },
    plugins: [leanPackages(outdir)],
  });
  const modules = modulesOf(outputFiles, metafile);
  refuseCycles(modules);
  const packs = assignPacks(modules);
  mkdirSync(outdir, { recursive: true });
  await Promise.all(
    [...packs].map(async ([pack, members]) => {
      const functions = await Promise.all(
        members.map((module) => moduleFunction(module, neededAtOnce.has(pack), options)),
      );
      writeFileSync(join(outdir, `${pack}.cjs`), packText(pack, functions, packs));
    }),
  );
  return [metafile];
}

/** Modules by name: their text, the source that is their entry point, if any, and the names of the modules they import. */
function modulesOf(outputFiles, metafile) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  // Names of esbuild contain a hash, and stand in the text of each module that imports this one.
  const names = new Map(
    outputFiles.map(({ path }, at) => [basename(path), path.endsWith('/entry.js') ? 'entry' : `m${at}`]),
  );
  const named = (specifier) => names.get(specifier?.replace('./', ''));
  return new Map(
    outputFiles.map(({ path, text }) => {
      const { entryPoint: root = '', imports } = outputs.get(basename(path));
      const needs = imports
        .filter(({ kind }) => kind === 'import-statement')
        .map((found) => named(basename(found.path)));
      const name = names.get(basename(path));
      return [
        name,
        { name, root, needs: needs.filter((need) => need !== undefined), text: withSpecifiers(text, named) },
      ];
    }),
  );
}

function withSpecifiers(text, named) {
  const [imports] = parse(text);
  return imports.toReversed().reduce((changed, { specifier, start, end, type }) => {
    const name = named(specifier);
    if (name === undefined) return changed;
    // The range of a lazy import includes its quotes.
    const quote = type === 'dynamic' ? '"' : '';
    return `${changed.slice(0, start)}${quote}./${name}${quote}${changed.slice(end)}`;
  }, text);
}

/** The packs in the order in which modules are assigned to them, each with the sources whose needs it contains. */
const packRoots = [
  ['entry', /^src\/entry\.ts/],
  ['token', /^src\/session\/read-access-token-on-fast-path\.ts/],
  ['secret-service', /^src\/platform\/read-keychain-quickly\.ts/],
  ['main', /^src\/(main|cli\/help)\.ts/],
  ['run', /^src\/(context|cli\/parse-command-line|commands\/config\/list)\.ts/],
  ['network', /^src\/platform\/(undici-sender|dispatch-request|connection-pool|v8-flags)\.ts/],
  ['droplets', /^src\/commands\/droplets\/list\.ts/],
  [
    'account',
    /^src\/(commands\/(overview|actions\/list|auth|config|completion|doctor)|(context|cli|config|platform|help-topics)\/)/,
  ],
  ['batch', /^src\/commands\/(droplets|actions|api)/],
  ['sandbox', /^src\/commands\/sandbox\/(?!start)/],
  ['db', /^src\/commands\/db\/(preflight|list|status|watch|stop|sequences|cutover|migrate)/],
  ['rehearsal', /^src\/commands\/db\//],
  ['server', /^src\/commands\/sandbox\/start/],
  ['postgresql', /^src\/postgresql\//],
  ['redis', /^src\/redis\//],
];

/** Packs whose modules are all needed when one of them is. */
const neededAtOnce = new Set(['entry', 'token', 'secret-service', 'main', 'run', 'network', 'droplets']);

/** Packs that are loaded without `main`, which contains the table of all packs. */
const quickPacks = ['token', 'secret-service'];

/** A module belongs to the first pack that needs it, else to `account`; packages that are loaded alone have a pack of their own. */
function assignPacks(modules) {
  const packs = new Map(packRoots.map(([pack]) => [pack, []]));
  const assigned = new Set();
  const assign = (pack, name) => {
    if (assigned.has(name)) return;
    assigned.add(name);
    for (const needed of modules.get(name).needs) assign(pack, needed);
    packs.set(pack, [...(packs.get(pack) ?? []), modules.get(name)]);
  };
  for (const [pack, pattern] of packRoots)
    for (const { name, root } of modules.values()) if (pattern.test(root)) assign(pack, name);
  for (const { name, root } of modules.values()) {
    const dependency = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(root)?.[1];
    if (dependency !== undefined) assign(dependency.replace('@', '').replaceAll('/', '-'), name);
    else if (root !== '') assign('account', name);
  }
  return packs;
}

/** The exports of a module are complete when its function has run, which in a cycle would be too late. */
function refuseCycles(modules) {
  const done = new Set();
  const visit = (name, above) => {
    if (above.includes(name)) throw new Error(`modules import each other: ${[...above, name].join(' > ')}`);
    if (done.has(name)) return;
    done.add(name);
    for (const next of modules.get(name).needs) visit(next, [...above, name]);
  };
  for (const name of modules.keys()) visit(name, []);
}

/**
 * The function of one module: its imports are properties of other modules' exports. V8 compiles a function in parentheses
 * with its file; any other function it parses then, and again when it is called.
 */
async function moduleFunction({ name, text }, isNeededAtOnce, { target, minifySyntax, minifyWhitespace }) {
  const { code } = await transform(withoutExports(withRequireForImport(withLateBuiltins(text))), {
    ...{ format: 'cjs', platform: 'node', target, minifySyntax, minifyWhitespace },
    define: { 'import.meta.url': 'thisBundle.url' },
  });
  const body = code.replace(/^"use strict";/, '').trim();
  return isNeededAtOnce ? `${name}:(function(require,module){${body}\n})` : `${name}(require,module){${body}\n}`;
}

/** `export{a as b}` at the end becomes `module.exports={b:a}`; a name that is assigned to later becomes a getter. */
function withoutExports(text) {
  const [, exported] = parse(text);
  if (exported.length === 0) return text;
  const clause = /export\{([^}]*)\};?\s*$/.exec(text);
  if (clause === null) {
    const only = /export default ([\w$]+(?:\(\))?);?\s*$/.exec(text);
    if (only === null || exported.length !== 1) throw new Error(`unexpected export: ${text.slice(-200)}`);
    return `${text.slice(0, only.index)}module.exports={default:${only[1]}};`;
  }
  const assigned = assignedNames(text);
  const properties = clause[1].split(',').map((part) => {
    const [local, name = local] = part.trim().split(' as ');
    return assigned.has(local) ? `get ${name}(){return ${local}}` : `${name}:${local}`;
  });
  return `${text.slice(0, clause.index)}module.exports={${properties.join(',')}};`;
}

/** Names on the left of an assignment anywhere in the text, whatever they refer to. */
function assignedNames(text) {
  const { program, errors } = parseSync('module.js', text);
  if (errors.length > 0) throw new Error(errors[0].message);
  const names = new Set();
  const addTargets = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (node.type === 'Identifier') names.add(node.name);
    else if (node.type !== 'MemberExpression') for (const child of Object.values(node)) addTargets(child);
  };
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (node.type === 'AssignmentExpression') addTargets(node.left);
    if (node.type === 'UpdateExpression') addTargets(node.argument);
    if (/^For(In|Of)Statement$/.test(node.type) && node.left.type !== 'VariableDeclaration') addTargets(node.left);
    for (const child of Object.values(node)) visit(child);
  };
  visit(program);
  return names;
}

/** Named imports of Node's modules: the module is loaded when a name is used. Almost every start uses these two. */
function withLateBuiltins(text) {
  const eager = ['node:fs', 'node:path'];
  const [imports] = parse(text);
  return imports.toReversed().reduce((changed, { specifier, start, end, type, importStart }) => {
    const isNamed = /^import\s*\{/.test(text.slice(importStart, end));
    if (type !== 'static' || !isNamed || !specifier.startsWith('node:') || eager.includes(specifier)) return changed;
    return `${changed.slice(0, start)}late:${specifier}${changed.slice(end)}`;
  }, text);
}

/** A lazy import of a module in a pack, of a native package or of Node is a call of require. */
function withRequireForImport(text) {
  const [imports] = parse(text);
  return imports.toReversed().reduce((changed, { specifier, type, importStart: from, importEnd: to }) => {
    if (type !== 'dynamic') return changed;
    if (specifier === undefined) throw new Error(`a lazy import of an unknown name: ${text.slice(from, to)}`);
    const load = `Promise.resolve().then(()=>require(${JSON.stringify(specifier)}))`;
    return changed.slice(0, from) + load + changed.slice(to);
  }, text);
}

function packText(pack, functions, packs) {
  const head = `"use strict";\nconst thisBundle={get url(){return require('node:url').pathToFileURL(__filename).href}};\n`;
  const table = `{\n${functions.join(',\n')}\n}`;
  const places = (names) =>
    Object.fromEntries(names.flatMap((name) => packs.get(name).map((module) => [module.name, name])));
  if (pack === 'entry')
    return `${head}const packOf=${JSON.stringify(places(quickPacks))},modules=${table};\n${loader}load('./entry');\n`;
  const packOf = pack === 'main' ? places([...packs.keys()].filter((name) => name !== 'entry')) : {};
  return `${head}exports.packOf=${JSON.stringify(packOf)};\nexports.modules=${table};\n`;
}

/**
 * Loads the modules of the packs. In it, `require` of a module in a pack runs its function once; `late:` is an object that
 * loads a module of Node when a property of it is read.
 */
const loader = `const loaded=new Map(),lateModules=new Map();
function load(specifier){
  if(specifier.startsWith('./')){
    const name=specifier.slice(2);
    let module=loaded.get(name);
    if(module===undefined){
      while(modules[name]===undefined)addPack(require('./'+(packOf[name]??'main')+'.cjs'));
      module={exports:{}};
      loaded.set(name,module);
      modules[name](load,module);
    }
    return module.exports;
  }
  return specifier.startsWith('late:')?lateModule(specifier.slice(5)):require(specifier);
}
function addPack(pack){
  Object.assign(packOf,pack.packOf);
  Object.assign(modules,pack.modules);
}
function lateModule(id){
  let found=lateModules.get(id);
  if(found===undefined){
    let real;
    found=new Proxy({},{get:(_,name)=>(real??=require(id))[name]});
    lateModules.set(id,found);
  }
  return found;
}
`;
