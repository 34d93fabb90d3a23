import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'es-module-lexer';
import { build } from 'esbuild';
import { throughDoors } from './doors.mjs';
import { leanPackages } from './lean-packages.mjs';
import { moduleFunction } from './module-function.mjs';
import { assignPacks, isNeededWithPack, quickPacks, refuseCycles } from './packs.mjs';

/**
 * Builds the program into a few packs: CommonJS files with many modules each. esbuild splits the program into modules at its
 * lazy imports; a file for each of them took most of the start-up time, in the ESM loader and in opening files
 * (docs/decisions/026-start-up.md). The pack `entry` runs `entry`. Resolves with the metafiles.
 * @param {import('esbuild').BuildOptions & { entry: string }} options
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
    plugins: [throughDoors(), leanPackages(outdir)],
  });
  const modules = modulesOf(outputFiles, metafile);
  refuseCycles(modules);
  const packs = assignPacks(modules);
  mkdirSync(outdir, { recursive: true });
  const digest = createHash('sha256');
  // The entry, the first in the list, contains the digest of all others.
  for (const [pack, members] of [...packs].toReversed()) {
    const functions = await Promise.all(
      members.map((module) => moduleFunction(module, modules, isNeededWithPack(pack, module.name, modules), options)),
    );
    const isEntry = pack === 'entry';
    const text = isEntry ? entryText(functions, packs, digest.digest('hex')) : packText(pack, functions, packs);
    if (!isEntry) digest.update(text);
    writeFileSync(join(outdir, `${pack}.cjs`), text);
  }
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

function packText(pack, functions, packs) {
  const packOf =
    pack === 'main'
      ? places(
          [...packs.keys()].filter((name) => name !== 'entry'),
          packs,
        )
      : {};
  return `${packHead('')}exports.packOf=${JSON.stringify(packOf)};\nexports.modules=${tableOf(functions)};\n`;
}

function entryText(functions, packs, digest) {
  const packOf = JSON.stringify(places(quickPacks, packs));
  const head = packHead(`packs:{digest:'${digest}',${packAccess}},`);
  return `${head}const packOf=${packOf},modules=${tableOf(functions)};\n${loader}load('./entry');\n`;
}

function packHead(properties) {
  return `"use strict";\nconst thisBundle={${properties}get url(){return require('node:url').pathToFileURL(__filename).href}};\n`;
}

function tableOf(functions) {
  return `{\n${functions.join(',\n')}\n}`;
}

/** The pack of each module. */
function places(names, packs) {
  return Object.fromEntries(names.flatMap((name) => packs.get(name).map((module) => [module.name, name])));
}

/** How the program compiles packs itself: ProgramBundle of src/platform/v8-code-cache.ts. */
const packAccess = 'folder:__dirname,require,moduleNames:()=>[...loaded.keys()],loadWith(load){loadPack=load}';

/**
 * Loads the modules of the packs. In it, `require` of a module in a pack runs its function once; `late:` is an object that
 * loads a module of Node when a property of it is read.
 */
const loader = `const loaded=new Map(),lateModules=new Map();
let loadPack=(pack)=>require('./'+pack+'.cjs');
function load(specifier){
  if(specifier.startsWith('./')){
    const name=specifier.slice(2);
    let module=loaded.get(name);
    if(module===undefined){
      while(modules[name]===undefined)addPack(loadPack(packOf[name]??'main'));
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
