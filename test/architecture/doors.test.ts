import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { throughDoors } from '../../scripts/doors.mjs';

const room = {
  'room/a.ts': "console.log('loads a'); export const first = 'the value of a';",
  'room/b.ts': "console.log('loads b'); export const second = 'the value of b'; export interface Shape { x: 1 }",
  'room/index.ts':
    "// A door.\nexport { first } from './a.ts';\nexport {\n  second as renamed,\n  type Shape,\n} from './b.ts';",
  'room/second.ts': "export { second } from './b.ts';",
  'outer/index.ts': "export { renamed as outer, first } from '../room/index.ts';",
};
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cloudctl-doors-'));
  for (const [path, text] of Object.entries(room)) put(path, text);
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['a name', "import { first } from './room/index.ts'; out(first);", 'a'],
  ['a name with another name here', "import { first as mine } from './room/index.ts'; out(mine);", 'a'],
  ['a name with another name in the door', "import { renamed } from './room/index.ts'; out(renamed);", 'b'],
  [
    'a name and a type',
    "import { renamed, type Shape } from './room/index.ts'; out(renamed as unknown as Shape);",
    'b',
  ],
  ['a second door', "import { second } from './room/second.ts'; out(second);", 'b'],
  ['a door behind a door', "import { outer as mine } from './outer/index.ts'; out(mine);", 'b'],
  ['a name passed on by a file with code', "export { first } from './room/index.ts'; out(1);", 'a'],
  ['a lazy import', "export const run = async () => out((await import('./room/index.ts')).renamed);", 'b'],
  [
    'a lazy import of several names',
    "export const run = async () => { const { first, renamed: other } = await import('./room/index.ts'); out(first, other); };",
    'ab',
  ],
])('%s loads only the files behind it', async (_name, text, loaded) => {
  const output = await bundled(text);
  expect([...output.matchAll(/"loads (\w)"/g)].map(([, letter]) => letter).join('')).toBe(loaded);
});

test('a type import of a door loads nothing', async () => {
  expect(await bundled("import type { Shape } from './room/index.ts'; out({} as Shape);")).not.toContain('loads');
});

test.each([
  "import * as all from './room/index.ts'; out(all);",
  "export const run = () => import('./room/index.ts').then(out);",
  "import { missing } from './room/index.ts'; out(missing);",
])('%s is refused', async (text) => {
  await expect(bundled(text)).rejects.toThrow();
});

async function bundled(text: string): Promise<string> {
  put('main.ts', `declare const out: (...values: unknown[]) => void;\n${text}`);
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'src/main.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    plugins: [throughDoors()],
  });
  return outputFiles[0]?.text ?? '';
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, 'src', path)), { recursive: true });
  writeFileSync(join(folder, 'src', path), text);
}
