import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openBatchLedgerFile } from '../../../src/batch/ledger/batch-ledger-file.ts';
import { ensureFolder } from '../../../src/platform/files.ts';
import { testLedgerPath } from '../batch-fixtures.ts';

function begun() {
  const path = testLedgerPath();
  ensureFolder(dirname(path));
  writeFileSync(path, 'first\n');
  return { path, file: openBatchLedgerFile(path), text: () => readFileSync(path, 'utf8') };
}

const refused = expect.objectContaining({ code: 'internal' });

describe('the file of a ledger', () => {
  it.each(['deleted', 'replaced'])('that was %s during the run is noticed', async (how) => {
    const { path, file } = begun();
    await file.sync();
    if (how === 'deleted') rmSync(path);
    else {
      writeFileSync(`${path}.new`, 'first\n');
      renameSync(`${path}.new`, path);
    }
    expect(() => file.flush()).toThrow(refused);
    await expect(file.sync()).rejects.toEqual(refused);
    expect(() => file.append('second\n', false)).toThrow(refused);
    await file.close();
  });

  it('has a line that cannot wait at once, and before it those that could', async () => {
    const { file, text } = begun();
    file.append('second\n', true);
    expect(text()).toBe('first\n');
    file.append('third\n', false);
    expect(text()).toBe('first\nsecond\nthird\n');
    await file.close();
  });

  it('has a line that can wait at the end of the turn', async () => {
    const { file, text } = begun();
    file.append('second\n', true);
    await turn();
    expect(text()).toBe('first\nsecond\n');
    await file.close();
  });

  it('has all that was held when it is flushed, and when it is closed', async () => {
    const { file, text } = begun();
    file.append('second\n', true);
    file.flush();
    expect(text()).toBe('first\nsecond\n');
    file.append('third\n', true);
    await file.close();
    expect(text()).toBe('first\nsecond\nthird\n');
  });

  it('takes nothing after its end, and ends once', async () => {
    const { file, text } = begun();
    await Promise.all([file.close(), file.close()]);
    expect(() => file.append('late\n', false)).toThrow(refused);
    expect(() => file.flush()).toThrow(refused);
    await expect(file.sync()).rejects.toThrow(refused);
    expect(text()).toBe('first\n');
  });

  it('on a disk that is full tells whoever writes first after a line that could wait, and everyone after that', async () => {
    const file = openBatchLedgerFile('/dev/full');
    file.append('held\n', true);
    await turn();
    const full = expect.objectContaining({ code: 'internal', message: expect.stringContaining('ENOSPC') });
    expect(() => file.append('next\n', true)).toThrow(full);
    expect(() => file.append('next\n', false)).toThrow(full);
    expect(() => file.flush()).toThrow(full);
    await file.close();
  });
});
