import { setFlagsFromString } from 'node:v8';

/**
 * What V8 does otherwise for a client that sends requests. To be called once all that it needs of Node is loaded: with other flags
 * than Node was built with, V8 refuses the compiled code that Node brings along, and 30 ms go into compiling its modules again.
 */
export function tuneV8ForClient(): void {
  keepYoungHeapSmall();
  compileLess();
  compileWasmOnce();
}

/**
 * Keeps the part of the heap for new objects at the size it begins with. V8 lets it grow until it holds thousands of answers
 * that nobody needs any more, with the bytes they were read into; collected sooner, they cost less memory and less time.
 */
export function keepYoungHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * A function that is compiled takes in less of what it calls, a sixth of V8's 920 bytes: compiling was a third of all that a
 * batch of ten thousand names cost, and what it makes is no slower at a hundred thousand (docs/decisions/012-batches.md).
 */
export function compileLess(): void {
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=150');
}

/**
 * WebAssembly stays as it is first compiled. The parser of HTTP in undici is that, and V8 of Node 20 begins to compile it once
 * more with the first answer, for a tenth of a second in which a program cannot end (docs/decisions/019-webassembly-compilation.md).
 */
export function compileWasmOnce(): void {
  // Not `--liftoff-only`, with which a processor that lacks something ends the process.
  setFlagsFromString('--no-wasm-dynamic-tiering');
  setFlagsFromString('--no-wasm-tier-up');
}
