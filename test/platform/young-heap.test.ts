import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const module = fileURLToPath(new URL('../../src/platform/young-heap.ts', import.meta.url));

/** Makes much that is needed for a while, which is what lets the young part of the heap grow, and prints its size in MB. */
const work = `
import { getHeapSpaceStatistics } from 'node:v8';
const held = [];
for (let at = 0; at < 3_000_000; at++) held[at % 200_000] = { at };
console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size / 1e6);
`;

async function youngSize(before: string): Promise<number> {
  const options = { bundle: true, write: false, format: 'esm', platform: 'node', logLevel: 'silent' } as const;
  const contents = `import { keepYoungHeapSmall } from ${JSON.stringify(module)};${before};${work}`;
  const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir: '/', loader: 'js' } });
  const words = ['--input-type=module', '-e', outputFiles[0]?.text ?? ''];
  return Number(execFileSync(process.execPath, words, { encoding: 'utf8' }));
}

it('the part of the heap for new objects does not grow', async () => {
  const [usual, small] = [await youngSize(''), await youngSize('keepYoungHeapSmall()')];
  expect(small).toBeLessThan(4);
  expect(usual).toBeGreaterThan(8);
});
