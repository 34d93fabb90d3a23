import { setFlagsFromString } from 'node:v8';

/**
 * Sets V8 flags for a client that sends requests. Call it after all required modules of Node are loaded: with other flags, V8
 * rejects the code cache of Node and compiles its modules again, which takes 30 ms.
 */
export function tuneV8ForClient(): void {
  limitYoungGeneration();
  reduceInlining();
  compileWasmOnce();
}

/**
 * Keeps the young generation of the heap at its initial size. By default it grows until it contains thousands of unused
 * responses; collecting them earlier takes less memory and less time.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Lets the heap grow by 30 % between two collections. By default it may grow to several times of what is in use, so that the
 * limit of what is in use limits little.
 */
export function collectGarbageEarly(): void {
  limitYoungGeneration();
  setFlagsFromString('--heap-growing-percent=30');
}

/**
 * Reduces inlining to a sixth of V8's default of 920 bytes. Compiling took a third of the CPU time of a batch of 10,000 names,
 * and the code is not slower at 100,000 (docs/decisions/012-batches.md).
 */
export function reduceInlining(): void {
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=150');
}

/**
 * Prevents that V8 compiles WebAssembly a second time. V8 of Node 20 recompiles the HTTP parser of undici after the first
 * response, which takes 100 ms in which the program cannot exit (docs/decisions/019-webassembly-compilation.md).
 */
export function compileWasmOnce(): void {
  // Not `--liftoff-only`, which ends the process on processors without some instructions.
  setFlagsFromString('--no-wasm-dynamic-tiering');
  setFlagsFromString('--no-wasm-tier-up');
}
