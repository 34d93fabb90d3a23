import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { ConnectError, clientErrorCodes } from './network-errors.ts';

/**
 * Sets V8 flags for a client that sends requests. The flags must be set after all required modules of Node are loaded, because
 * with other flags V8 rejects the code cache of Node and compiles its modules again, which takes 30 ms.
 */
export function tuneClient(): void {
  limitYoungGeneration();
  disableWasmRecompilation();
}

/**
 * Keeps the young generation of the heap at its initial size. By default the young generation grows until it contains thousands
 * of unused responses; collecting them earlier takes less memory and less time.
 */
export function limitYoungGeneration(): void {
  setFlag('--semi-space-growth-factor=1');
}

/**
 * Lets the heap grow by 30 % between two collections. By default the heap may grow to several times the memory in use, so that
 * a limit on the memory in use would have little effect.
 */
export function limitHeapGrowth(): void {
  limitYoungGeneration();
  setFlag('--heap-growing-percent=30');
}

/**
 * Prevents V8 from compiling WebAssembly code a second time. Node 20's V8 recompiles undici's HTTP parser after the first
 * response, which takes 100 ms in which the program cannot exit (docs/decisions/019-webassembly-compilation.md).
 */
export function disableWasmRecompilation(): void {
  // The V8 flag `--liftoff-only` is not used, because it ends the process on processors without some instructions.
  setFlag('--no-wasm-dynamic-tiering');
  setFlag('--no-wasm-tier-up');
}

/**
 * Sets each flag that the functions of this file have changed back to its default in V8, which this file lists. Returns
 * false if the flags of V8 are not as before the first change, because this version of V8 has other defaults.
 */
export function resetFlags(): boolean {
  if (initialTag === undefined) return true;
  for (const flag of defaultFlags) setFlagsFromString(flag);
  return cachedDataVersionTag() === initialTag;
}

const defaultFlags = [
  '--semi-space-growth-factor=2',
  '--heap-growing-percent=0',
  '--wasm-dynamic-tiering',
  '--wasm-tier-up',
];

/** V8's number for its version and flags, before this file changed a flag. */
let initialTag: number | undefined;

function setFlag(flag: string): void {
  initialTag ??= cachedDataVersionTag();
  setFlagsFromString(flag);
}

/** Limits the memory that the responses of one or several database sessions use. */
export interface MemoryLimit {
  /** Starts to count the memory of one session. */
  open(): ResponseMemoryUse;
}

interface ResponseMemoryUse {
  /** Adds a number of bytes to the memory in use. Throws a ConnectError when the memory limit is exceeded. */
  add(bytes: number): void;
  nextStatement(): void;
  close(): void;
}

/**
 * The memory limit in bytes for all sessions together. The responses for a database of 100,000 tables need half of this memory
 * limit, and the program's own data about the same amount.
 */
const maxMemory = 64 * 2 ** 20;

/**
 * @param kept how long the caller keeps a response: until the next `statement` of its session, until the `session` ends, or
 * `always`
 */
export function createLimit(kept: 'statement' | 'session' | 'always'): MemoryLimit {
  let total = 0;
  return {
    open() {
      // A refused response is garbage that must be collected before the memory of the next response is added.
      limitHeapGrowth();
      let own = 0;
      const release = () => {
        total -= own;
        own = 0;
      };
      return {
        add(bytes) {
          own += bytes;
          total += bytes;
          if (own > maxMemory) throw tooLarge(clientErrorCodes.protocol, 'the response is larger than 64 MiB');
          if (total > maxMemory) {
            throw tooLarge(clientErrorCodes.memory, 'the responses of all sessions are larger than 64 MiB');
          }
        },
        nextStatement() {
          if (kept === 'statement') release();
        },
        close() {
          if (kept !== 'always') release();
        },
      };
    },
  };
}

function tooLarge(code: string, message: string): ConnectError {
  return new ConnectError('startup', code, message);
}
