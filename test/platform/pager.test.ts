import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startPager } from '../../src/platform/pager.ts';
import { makeFolders } from '../fixtures/folders.ts';

const env = { PATH: process.env.PATH };

it('the command runs in the shell, with its options and the defaults for less', async () => {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const path = join(folders.work, 'a file');
  const pager = startPager('tr a-z A-Z | { cat; printf "$LESS"; } >"$SHOWN"', { ...env, SHOWN: path });
  await pager.write('first\n');
  await pager.write('second\n');
  expect(await pager.end()).toEqual({ hasRun: true });
  expect(readFileSync(path, 'utf8')).toBe('FIRST\nSECOND\nFRX');
});

it('a pager that ends early takes no more, and that is no failure', async () => {
  const pager = startPager('exit 0', env);
  for (let at = 0; at < 50; at += 1) await pager.write('x'.repeat(100_000));
  expect(await pager.end()).toEqual({ hasRun: true });
});

it('a program that does not exist has not run', async () => {
  const pager = startPager('no-such-pager-here 2>/dev/null', env);
  await pager.write('text');
  expect(await pager.end()).toEqual({ hasRun: false });
});

it.each([
  ['linux', 1, true],
  ['linux', 127, false],
  ['win32', 0, true],
  ['win32', 1, false],
] as const)('on %s a shell that ends with %d: it has run is %s', async (platform, status, hasRun) => {
  const pager = startPager(`exit ${status}`, env, platform);
  expect(await pager.end()).toEqual({ hasRun });
});

it('a pager that is stopped ends', async () => {
  const pager = startPager('exec sleep 60', env);
  pager.stop();
  expect(await pager.end()).toEqual({ hasRun: true });
});
