import fs, { type PathOrFileDescriptor, writeSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { getAsset } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { programVersion } from './base/version.ts';
import { extractFile, installedFile } from './platform/extract.ts';
import { fileErrorCode } from './platform/files.ts';
import { resolveFolders } from './platform/folders.ts';
import { requireOwnFolder } from './platform/own-folder.ts';

/** A CommonJS file of dist/ as a function. */
type PackFunction = (
  exports: object,
  require: (specifier: string) => unknown,
  module: { exports: object },
  filename: string,
  folder: string,
) => void;

const packParameters: readonly string[] = ['exports', 'require', 'module', '__filename', '__dirname'];

/**
 * The packs that almost every command needs, which scripts/standalone.mjs writes into the executable in front of this code.
 * The other packs are assets of the executable.
 */
declare const standalonePacks: Readonly<Record<string, PackFunction | undefined>>;
declare const standaloneBuild: string;

/**
 * The main script of the standalone executable (docs/decisions/028-standalone.md): files of dist/ are functions in the same
 * script, or assets. Their names are below the path of the executable, where no file can be, so that nothing
 * beside the executable is ever loaded.
 */
const root = process.execPath;
const loaded = new Map<string, { exports: object }>();

function requireInPack(specifier: string): unknown {
  const pack = /^\.\/(.+\.cjs)$/.exec(specifier)?.[1];
  if (pack !== undefined) return loadPack(pack);
  switch (specifier) {
    case 'node:fs':
      return fileSystem;
    case 'node:module':
      return modules;
    case '@napi-rs/keyring':
      return loadNativeModule('keyring.node');
    case 'fs-native-extensions':
      return createLockLibrary(loadNativeModule('fs-native-extensions.node'));
    default:
      return require(specifier);
  }
}

function loadPack(name: string): object {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const filename = join(root, name);
  const pack = standalonePacks[name] ?? compileFunction(getAsset(name, 'utf8'), packParameters, { filename });
  const created = { exports: {} };
  loaded.set(name, created);
  Reflect.apply(pack, undefined, [created.exports, requireInPack, created, filename, root]);
  return created.exports;
}

/** A file beside the packs (help.txt, WebAssembly) is an asset of the executable. */
const fileSystem: object = Object.assign(Object.create(fs), {
  readFileSync(path: PathOrFileDescriptor, options?: BufferEncoding) {
    const name = path instanceof URL && path.protocol === 'file:' ? fileURLToPath(path) : '';
    if (!name.startsWith(root)) return fs.readFileSync(path, options);
    const bytes = Buffer.from(getAsset(name.slice(root.length + 1)));
    return options === undefined ? bytes : bytes.toString(options);
  },
});

const modules: object = Object.assign(Object.create(module), { createRequire: () => requireInPack });

/** Creates the same functions as fs-native-extensions/index.js, which would load its binary from its own folder. */
function createLockLibrary(binding: object): { tryLock(descriptor: number): boolean } {
  if (!('tryLock' in binding) || typeof binding.tryLock !== 'function')
    throw new Error('the lock library has no tryLock');
  const { tryLock } = binding;
  return {
    tryLock(descriptor) {
      try {
        tryLock(descriptor, 0, 0, true);
        return true;
      } catch (error) {
        if (fileErrorCode(error) === 'EAGAIN') return false;
        throw error;
      }
    },
  };
}

function loadNativeModule(name: string): object {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const bytes = Buffer.from(getAsset(name));
  const path = installedFile(installedFolder, name, bytes) ?? extractToState(name, bytes);
  const created = { exports: {} };
  process.dlopen(created, path);
  loaded.set(name, created);
  return created.exports;
}

/** Where a Debian or RPM package has the native modules. */
const installedFolder = '/usr/lib/cloudctl';

function extractToState(name: string, bytes: Uint8Array): string {
  const { state } = resolveFolders(process.env, process.platform);
  requireOwnFolder(state);
  return extractFile(join(state, `native-${standaloneBuild}`), name, bytes);
}

// In an executable, argv[1] is what was typed to start it, instead of a script. The keychain helper is this
// executable with the path of `keychain.cjs` as its first argument.
const [, , first] = process.argv;
if (first === join(root, 'keychain.cjs')) {
  process.argv.splice(1, 1);
  loadPack('keychain.cjs');
} else if (process.argv.length === 3 && (first === '--version' || first === '-V')) {
  const node = `Node ${process.versions.node}, ${process.platform}-${process.arch}`;
  writeSync(1, `${programVersion} (standalone, build ${standaloneBuild}, ${node})\n`);
} else {
  // The compile cache is off, because the executable already contains compiled code and the cache would need files.
  process.env.CLOUDCTL_CODE_CACHE = 'off';
  process.argv[1] = root;
  loadPack('entry.cjs');
}
