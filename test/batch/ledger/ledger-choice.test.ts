import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLedger } from '../../../src/batch/ledger/ledger.ts';
import { buildBatchIdLedgerPath, readLedgerChoice } from '../../../src/batch/ledger/ledger-choice.ts';
import { encodeLedgerEvent } from '../../../src/batch/ledger/ledger-event.ts';
import { argsFrom } from '../../fixtures/command-io.ts';
import { batchOf, testBootId, testLedgerPath } from '../batch-fixtures.ts';

describe('the ledger of a run', () => {
  it('is new, that of --resume, or that of --ledger when the file has one', async () => {
    const path = testLedgerPath();
    expect(readLedgerChoice(argsFrom({}))).toEqual({});
    expect(readLedgerChoice(argsFrom({ resume: ['/x'] }))).toEqual({ resumed: '/x' });
    expect(readLedgerChoice(argsFrom({ ledger: [path] }))).toEqual({ created: path });
    await (await createLedger(path, batchOf(['a']), testBootId)).close();
    expect(readLedgerChoice(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
  });

  it.each([
    ['an empty file', ''],
    ['the start of a first line', encodeLedgerEvent(batchOf(['a'])).slice(0, 60)],
  ])('of --ledger takes the place of %s', async (_, text) => {
    const path = testLedgerPath();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    expect(readLedgerChoice(argsFrom({ ledger: [path] }))).toEqual({ created: path });
    const ledger = await createLedger(path, batchOf(['a']), testBootId);
    await ledger.close();
    expect(readLedgerChoice(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
  });

  it('of --ledger never takes the place of another file or folder', async () => {
    const path = testLedgerPath();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'web-1');
    expect(readLedgerChoice(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
    expect(readLedgerChoice(argsFrom({ ledger: [dirname(path)] }))).toEqual({ resumed: dirname(path) });
    await expect(createLedger(path, batchOf(['a']), testBootId)).rejects.toMatchObject({ code: 'internal' });
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
    expect(() => readLedgerChoice(argsFrom({ ledger: [path] }))).toThrow(expect.objectContaining({ code: 'usage' }));
    await expect(createLedger(path, batchOf(['a']), testBootId)).rejects.toMatchObject({ code: 'internal' });
    expect(readlinkSync(path)).toBe(target);
    expect(existsSync(target)).toBe(exists);
  });

  it('of --ledger is the one that a symbolic link leads to', async () => {
    const path = testLedgerPath();
    const link = `${path}.link`;
    await (await createLedger(path, batchOf(['a']), testBootId)).close();
    symlinkSync(path, link);
    expect(readLedgerChoice(argsFrom({ ledger: [link] }))).toEqual({ resumed: link });
  });

  it.each([
    { 'batch-id': ['x'], resume: ['/x'] },
    { 'batch-id': ['x'], ledger: ['/x'] },
    { 'batch-id': ['x'], mark: [] },
    { resume: ['/x'], ledger: ['/x'] },
    { plan: [], 'dry-run': [] },
    { ledger: [''] },
  ])('is not chosen by options that contradict each other: %j', (options) => {
    expect(() => readLedgerChoice(argsFrom(options))).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

it('the ledger of a --batch-id is another one for another profile or server', () => {
  const paths = [{}, { profile: 'p' }, { base_url: 'https://b' }].map((changes) =>
    buildBatchIdLedgerPath('/s', batchOf(['a'], { id: 'con', ...changes })),
  );
  expect(new Set(paths).size).toBe(3);
  expect(paths[0]).toMatch(/^\/s\/batches\/id-con-[0-9a-f]{8}\.jsonl$/);
});
