import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBatchLedgerAtPath } from '../../../src/batch/ledger/batch-ledger.ts';
import { encodeBatchLedgerEvent } from '../../../src/batch/ledger/batch-ledger-event.ts';
import {
  buildLedgerPathOfUserBatchId,
  readBatchLedgerSelection,
} from '../../../src/batch/ledger/batch-ledger-selection.ts';
import { argsFrom } from '../../fixtures/command-io.ts';
import { batchOf, testBootId, testLedgerPath } from '../batch-fixtures.ts';

describe('the ledger of a run', () => {
  it('is new, that of --resume, or that of --ledger when the file has one', async () => {
    const path = testLedgerPath();
    expect(readBatchLedgerSelection(argsFrom({}))).toEqual({});
    expect(readBatchLedgerSelection(argsFrom({ resume: ['/x'] }))).toEqual({ resumed: '/x' });
    expect(readBatchLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ created: path });
    await (await createBatchLedgerAtPath(path, batchOf(['a']), testBootId)).close();
    expect(readBatchLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
  });

  it.each([
    ['an empty file', ''],
    ['the start of a first line', encodeBatchLedgerEvent(batchOf(['a'])).slice(0, 60)],
  ])('of --ledger takes the place of %s', async (_, text) => {
    const path = testLedgerPath();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    expect(readBatchLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ created: path });
    const ledger = await createBatchLedgerAtPath(path, batchOf(['a']), testBootId);
    await ledger.close();
    expect(readBatchLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
  });

  it('of --ledger never takes the place of another file or folder', async () => {
    const path = testLedgerPath();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'web-1');
    expect(readBatchLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
    expect(readBatchLedgerSelection(argsFrom({ ledger: [dirname(path)] }))).toEqual({ resumed: dirname(path) });
    await expect(createBatchLedgerAtPath(path, batchOf(['a']), testBootId)).rejects.toMatchObject({ code: 'internal' });
  });

  it.each([
    ['an empty file', true],
    ['no file', false],
  ])('of --ledger never takes the place of a symbolic link to %s, such as /dev/stdout', async (_, exists) => {
    const path = testLedgerPath();
    const target = `${path}.target`;
    mkdirSync(dirname(path), { recursive: true });
    if (exists) writeFileSync(target, '');
    symlinkSync(target, path);
    expect(() => readBatchLedgerSelection(argsFrom({ ledger: [path] }))).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
    await expect(createBatchLedgerAtPath(path, batchOf(['a']), testBootId)).rejects.toMatchObject({ code: 'internal' });
    expect(readlinkSync(path)).toBe(target);
    expect(existsSync(target)).toBe(exists);
  });

  it('of --ledger is the one that a symbolic link leads to', async () => {
    const path = testLedgerPath();
    const link = `${path}.link`;
    await (await createBatchLedgerAtPath(path, batchOf(['a']), testBootId)).close();
    symlinkSync(path, link);
    expect(readBatchLedgerSelection(argsFrom({ ledger: [link] }))).toEqual({ resumed: link });
  });

  it.each([
    { 'batch-id': ['x'], resume: ['/x'] },
    { 'batch-id': ['x'], ledger: ['/x'] },
    { 'batch-id': ['x'], mark: [] },
    { resume: ['/x'], ledger: ['/x'] },
    { plan: [], 'dry-run': [] },
    { ledger: [''] },
  ])('is not chosen by options that contradict each other: %j', (options) => {
    expect(() => readBatchLedgerSelection(argsFrom(options))).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

it('the ledger of a --batch-id is another one for another profile or server', () => {
  const paths = [{}, { profile: 'p' }, { base_url: 'https://b' }].map((changes) =>
    buildLedgerPathOfUserBatchId('/s', batchOf(['a'], { id: 'con', ...changes })),
  );
  expect(new Set(paths).size).toBe(3);
  expect(paths[0]).toMatch(/^\/s\/batches\/id-con-[0-9a-f]{8}\.jsonl$/);
});
