import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { isCi } from './ci.ts';
import { resolveFolders } from './folders.ts';
import type { ProcessEnvironment } from './host.ts';
import { requireOwnFolder } from './own-folder.ts';

/** The files of the program, as scripts/bundle.mjs builds them. */
export interface ProgramBundle {
  readonly folder: string;
  /** The SHA-256 of all bundle files. */
  readonly digest: string;
  readonly require: NodeJS.Require;
  /** The modules of the program that have run so far. */
  readonly moduleNames: () => readonly string[];
  /** Sets the function that loads a bundle file from now on. */
  readonly loadWith: (load: (pack: string) => unknown) => void;
}

/** A bundle file that this process compiled, with or without cached data. */
export interface CompiledFile {
  readonly script: Script;
  /** The path of the cache file with the compiled functions of this bundle file. */
  readonly path: string;
  /** The text with which a valid cache file of this bundle file begins. */
  readonly head: string;
  /** The modules whose functions are in the cache file; empty when the cache file cannot be used. */
  readonly cachedModules: ReadonlySet<string>;
}

export interface CodeCache {
  readonly folder: string;
  /** The bundle files whose cache file lacks functions that this process compiled. */
  readonly incompletePacks: () => readonly CompiledFile[];
}

/** Maximum size of a cache file in bytes, ten times the usual size. */
const maxBytes = 8_000_000;

/**
 * Opens the V8 code cache: bundle files are then compiled with the data that an earlier start stored
 * (docs/decisions/027-code-cache.md). Undefined if the cache is off, or if another user could have written it. A cache file
 * that cannot be used is ignored.
 */
export function openCache(packs: ProgramBundle, env: ProcessEnvironment): CodeCache | undefined {
  const folder = codeCacheFolder(env);
  if (folder === undefined) return undefined;
  const node = statSync(process.execPath);
  const { version, versions, arch, execPath, execArgv } = process;
  const identity = [version, versions.v8, arch, execPath, node.size, node.mtimeMs, execArgv, env.NODE_OPTIONS];
  const compiled: CompiledFile[] = [];
  packs.loadWith((pack) => {
    const file = join(packs.folder, `${pack}.cjs`);
    const source = readFileSync(file);
    const key = `${JSON.stringify(['cloudctl code cache 1', pack, packs.digest, packs.folder, ...identity])}\n`;
    const path = join(folder, `${pack}-${checksum(Buffer.from(key))}`);
    const head = `${key}${checksum(source)} `;
    const cached = readCachedData(path, head);
    const text = `(function(exports,require,__filename){${source}\n})`;
    const script = new Script(text, { filename: file, ...(cached === undefined ? {} : { cachedData: cached.data }) });
    const isUsed = cached !== undefined && script.cachedDataRejected === false;
    compiled.push({ script, path, head, cachedModules: new Set(isUsed ? cached.modules : []) });
    const exports = {};
    script.runInThisContext()(exports, packs.require, file);
    return exports;
  });
  return {
    folder,
    incompletePacks() {
      const names = packs.moduleNames();
      return compiled.filter(({ cachedModules }) => names.some((name) => !cachedModules.has(name)));
    },
  };
}

/**
 * A file of the cache: `head`, the checksum of the rest, and a line with the modules whose functions the data contains. The
 * data begins at a multiple of 8 bytes; anywhere else V8 would copy it.
 */
export function encodeCache(head: string, modules: readonly string[], data: Uint8Array): Buffer {
  const start = head.length + checksumLength + 1;
  const list = modules.join(' ');
  const padding = ' '.repeat((8 - ((start + list.length + 1) % 8)) % 8);
  const rest = Buffer.concat([Buffer.from(`${list}${padding}\n`), data]);
  return Buffer.concat([Buffer.from(`${head}${checksum(rest)}\n`, 'latin1'), rest]);
}

interface CachedData {
  readonly modules: readonly string[];
  readonly data: Buffer;
}

function decodeCachedData(file: Buffer, head: string): CachedData | undefined {
  const start = head.length + checksumLength + 1;
  if (file.toString('latin1', 0, head.length) !== head) return undefined;
  const rest = file.subarray(start);
  if (file.toString('latin1', head.length, start) !== `${checksum(rest)}\n`) return undefined;
  const end = rest.indexOf('\n');
  return { modules: rest.toString('latin1', 0, end).trimEnd().split(' '), data: rest.subarray(end + 1) };
}

function readCachedData(path: string, head: string): CachedData | undefined {
  try {
    // O_NONBLOCK: if the path is a named pipe, the program would otherwise wait until another process opens the pipe.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile() || !isPrivate(status) || status.size > maxBytes) return undefined;
      return decodeCachedData(readFileSync(descriptor), head);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

/** The folder of the V8 code cache, which may be missing; undefined when the cache must not be used. */
function codeCacheFolder(env: ProcessEnvironment): string | undefined {
  const choice = env.CLOUDCTL_CODE_CACHE;
  // Windows has no owner and mode to check.
  if (process.geteuid === undefined || (choice ? choice !== 'on' : isCi(env))) return undefined;
  try {
    const { state } = resolveFolders(env, process.platform);
    if (!statSync(state).isDirectory()) return undefined;
    requireOwnFolder(state);
    const folder = join(state, 'code-cache');
    const status = lstatSync(folder, { throwIfNoEntry: false });
    return status === undefined || (status.isDirectory() && isPrivate(status)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the file belongs to this user, and other users can neither read nor write it. */
function isPrivate({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & 0o077) === 0;
}

const checksumLength = 8;

function checksum(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(checksumLength, '0');
}
