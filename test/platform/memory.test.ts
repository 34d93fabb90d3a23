import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { createLimit } from '../../src/platform/memory.ts';

describe('flags of V8', () => {
  const module = fileURLToPath(new URL('../../src/platform/memory.ts', import.meta.url));

  /** What a program prints that does some work, after one of the functions of the module or none. */
  async function printed(call: string, work: string, ...words: readonly string[]): Promise<string> {
    const options = { bundle: true, write: false, format: 'esm', platform: 'node', logLevel: 'silent' } as const;
    const contents = `import { disableWasmRecompilation, limitYoungGeneration, limitHeapGrowth, tuneClient, resetFlags } from ${JSON.stringify(module)};${call}${work}`;
    const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir: '/', loader: 'js' } });
    const program = outputFiles[0]?.text ?? '';
    return execFileSync(process.execPath, [...words, '--input-type=module', '-e', program], { encoding: 'utf8' });
  }

  it('the part of the heap for new objects does not grow', async () => {
    // Makes much that is needed for a while, which is what lets it grow, and prints its size in MB.
    const work = `
import { getHeapSpaceStatistics } from 'node:v8';
const held = [];
for (let at = 0; at < 3_000_000; at++) held[at % 200_000] = { at };
console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size / 1e6);
`;
    expect(Number(await printed('limitYoungGeneration();', work))).toBeLessThan(4);
    expect(Number(await printed('', work))).toBeGreaterThan(8);
  });

  it('garbage takes little more than what is in use', async () => {
    // Replaces 60 MB of objects again and again, each time by others.
    const work = `
let held = [];
let most = 0;
for (let round = 0; round < 8; round++) {
  held = [];
  for (let at = 0; at < 500_000; at++) held.push({ at, a: at, b: at, c: at, d: at, e: at });
  most = Math.max(most, process.memoryUsage().heapTotal / 1e6);
}
console.log(most);
`;
    const [early, usual] = [await printed('limitHeapGrowth();', work), await printed('', work)];
    expect(Number(early)).toBeLessThan(0.8 * Number(usual));
  });

  it('WebAssembly is compiled once, however much it works', async () => {
    // A module of one function, `f`, that counts down to nothing.
    const bytes = '0061736d010000000105016001 7f00 03020100 0705010166 0000 0a10010e00 0340 200041016b 2200 0d00 0b0b';
    const work = `
const module = new WebAssembly.Module(Buffer.from('${bytes.replaceAll(' ', '')}', 'hex'));
const { f } = new WebAssembly.Instance(module).exports;
const isAsFirstCompiled = new Function('f', 'return %IsLiftoffFunction(f)');
f(1);
for (let at = 0; at < 200 && isAsFirstCompiled(f); at++) {
  f(1_000_000);
  await new Promise((resolve) => setTimeout(resolve, 2));
}
console.log(isAsFirstCompiled(f));
`;
    const words = ['--allow-natives-syntax'];
    expect(await printed('', work, ...words)).toBe('false\n');
    expect(await printed('disableWasmRecompilation();', work, ...words)).toBe('true\n');
  });

  it('flags are reset to those of V8, so that compiled code can be kept', async () => {
    const work = `
import { cachedDataVersionTag } from 'node:v8';
const [before, hasReset] = [cachedDataVersionTag(), resetFlags()];
console.log(before !== cachedDataVersionTag(), hasReset);
`;
    expect(await printed('tuneClient();', work)).toBe('true true\n');
    expect(await printed('tuneClient();limitHeapGrowth();', work)).toBe('true true\n');
    expect(await printed('', work)).toBe('false true\n');
  });
});

describe('memory of responses', () => {
  const half = 40 * 2 ** 20;

  it('a session whose responses are too large alone will not do better later', () => {
    const use = createLimit('statement').open();
    use.add(half);
    expect(() => use.add(half)).toThrow(expect.objectContaining({ code: 'PROTOCOL' }));
  });

  it('sessions that are too large together may succeed one after the other', () => {
    const memory = createLimit('session');
    const [first, second] = [memory.open(), memory.open()];
    first.add(half);
    expect(() => second.add(half)).toThrow(expect.objectContaining({ code: 'MEMORY' }));
    second.close();
    first.close();
    const third = memory.open();
    expect(() => third.add(half)).not.toThrow();
  });

  it.each([
    { kept: 'statement', nextStatement: true, nextSession: true },
    { kept: 'session', nextStatement: false, nextSession: true },
    { kept: 'always', nextStatement: false, nextSession: false },
  ] as const)('responses kept until: $kept', ({ kept, nextStatement, nextSession }) => {
    const succeeds = (work: () => void) => {
      try {
        work();
        return true;
      } catch {
        return false;
      }
    };
    const memory = createLimit(kept);
    const use = memory.open();
    use.add(half);
    use.nextStatement();
    expect(succeeds(() => use.add(half))).toBe(nextStatement);
    use.close();
    expect(succeeds(() => memory.open().add(half))).toBe(nextSession);
  });
});
