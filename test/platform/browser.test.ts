import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemBrowser } from '../../src/platform/browser.ts';

const url = 'http://127.0.0.1:8765/start/abc?x=1&y=$(touch%20pwned);z';

let folder = '';
let opener = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'browser-'));
  opener = join(folder, 'opener');
  writeFileSync(
    opener,
    `#!/bin/sh\nfor word; do printf '%s\\n' "$word"; done > ${folder}/words.tmp && mv ${folder}/words.tmp ${folder}/words\n`,
  );
  chmodSync(opener, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

async function opened(): Promise<readonly string[]> {
  for (let tries = 0; tries < 100 && !existsSync(join(folder, 'words')); tries++) await sleep(20);
  return readFileSync(join(folder, 'words'), 'utf8').trim().split('\n');
}

const browser = (variables: Record<string, string>) =>
  createSystemBrowser({ PATH: process.env.PATH, ...variables }, 'linux');

describe.skipIf(process.platform === 'win32')('the browser', () => {
  it('named by BROWSER gets the address as one argument, without a shell', async () => {
    expect(await browser({ BROWSER: opener }).open(url)).toBe(true);
    expect(await opened()).toEqual([url]);
  });

  it('named by BROWSER may take words of its own, and the address where %s stands', async () => {
    expect(await browser({ BROWSER: `${opener} --new=%s --last` }).open(url)).toBe(true);
    expect(await opened()).toEqual([`--new=${url}`, '--last']);
  });

  it('named by BROWSER may have spaces in its path, within quotes', async () => {
    const spaced = join(folder, 'a browser');
    copyFileSync(opener, spaced);
    expect(await browser({ BROWSER: `"${spaced}" --name='a b' -x` }).open(url)).toBe(true);
    expect(await opened()).toEqual(['--name=a b', '-x', url]);
  });

  it('named by BROWSER may have an apostrophe in its path', async () => {
    const named = join(folder, "o'neil");
    copyFileSync(opener, named);
    expect(await browser({ BROWSER: `${named} --new` }).open(url)).toBe(true);
    expect(await opened()).toEqual(['--new', url]);
  });

  it('that the system cannot start at all is skipped', async () => {
    expect(await browser({ BROWSER: `${opener}/below` }).open(url)).toBe(false);
    expect(await browser({ BROWSER: `${opener}/below:${opener}` }).open(url)).toBe(true);
    expect(await opened()).toEqual([url]);
  });

  it('is the first of the list that starts', async () => {
    expect(await browser({ BROWSER: `${folder}/nowhere:${opener} --first` }).open(url)).toBe(true);
    expect(await opened()).toEqual(['--first', url]);
  });

  it('is none when nothing of the list starts, with BROWSER=none, and without a display', async () => {
    expect(await browser({ BROWSER: `${folder}/nowhere` }).open(url)).toBe(false);
    expect(await browser({ BROWSER: 'none' }).open(url)).toBe(false);
    expect(await browser({ BROWSER: '' }).open(url)).toBe(false);
    expect(await browser({}).open(url)).toBe(false);
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)', '--help', '', 'ftp://x'])('never gets %j', async (text) => {
    await expect(browser({ BROWSER: opener }).open(text)).rejects.toThrow();
    expect(existsSync(join(folder, 'words'))).toBe(false);
  });
});
