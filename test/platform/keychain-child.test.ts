import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startedLine } from '../../src/platform/keychain-wire.ts';
import { type Bundle, bundleProgram } from './bundle.ts';

describe.skipIf(process.platform !== 'linux')('the helper process of the keychain', () => {
  let bundle: Bundle;
  beforeAll(async () => {
    bundle = await bundleProgram({ file: 'src/platform/keychain-child.ts' }, 'cjs');
  });
  afterAll(() => bundle.remove());

  /** Where there is no keychain, so that nothing of the user's is touched. */
  const start = () =>
    spawn(process.execPath, [bundle.script], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    });

  it('answers each line with one line when it begins and one with the answer, in order, and ends with its input', async () => {
    const child = start();
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    child.stdin.write('{"operation":"read","account":"a#1"}\n{"operation":"write","account":"a#1",');
    child.stdin.end('"value":"x"}\n{"operation":"remove","account":"a#1"}\n');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect([lines[0], lines.filter((line) => line === startedLine).length]).toEqual([startedLine, 3]);
    expect(lines.filter((line) => line !== startedLine).map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ kind: 'unavailable', why: 'missing' }),
      expect.objectContaining({ kind: 'unavailable', why: 'missing' }),
      expect.objectContaining({ kind: 'unavailable', why: 'missing' }),
    ]);
  });

  it('ends when its parent has gone', async () => {
    const child = start();
    child.stdin.destroy();
    expect(await once(child, 'close')).toEqual([0, null]);
  });
});
