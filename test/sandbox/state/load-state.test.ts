import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSandboxStateFolder } from '../../../src/sandbox/state/state-folder.ts';
import { encodeSandboxStateRecord } from '../../../src/sandbox/state/state-record-encoding.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { makeFolder, openWorld } from './state-folders.ts';
import { WORLD_CHANGES } from './world-changes.ts';

type Change = (files: { readonly snapshot: string; readonly journal: string }) => void;

const record = (patch: unknown, number = 1): Buffer =>
  encodeSandboxStateRecord(JSON.stringify({ record: number, patch }));

const CASES: Readonly<Record<string, Change>> = {
  'no snapshot': ({ snapshot }) => rmSync(snapshot),
  'no journal': ({ journal }) => rmSync(journal),
  'half a snapshot': ({ snapshot }) => writeFileSync(snapshot, readFileSync(snapshot).subarray(0, 99)),
  'two snapshots': ({ snapshot }) => writeFileSync(snapshot, Buffer.concat([readFileSync(snapshot), record({})])),
  'another format': ({ snapshot }) => writeFileSync(snapshot, encodeSandboxStateRecord('{"format":"other"}')),
  'a wrong checksum': ({ journal }) => writeFileSync(journal, `00000000 2 {}\n`),
  'a missing record': ({ journal }) => writeFileSync(journal, record({ put: {}, drop: {} }, 3)),
  'no JSON': ({ journal }) => writeFileSync(journal, encodeSandboxStateRecord('{')),
  'an unknown member': ({ journal }) => writeFileSync(journal, record({ put: { color: 'red' }, drop: {} })),
  'an unknown table': ({ journal }) => writeFileSync(journal, record({ put: {}, drop: { colors: [] } })),
  'a wrong type': ({ journal }) => writeFileSync(journal, record({ put: { nextId: 'x' }, drop: {} })),
  'a session of an unknown person': ({ journal }) =>
    writeFileSync(journal, record({ put: { sessions: [{ id: 's', person: 'p', forms: [] }] }, drop: {} })),
};

describe('a damaged state folder', () => {
  it.each(Object.entries(CASES))('is reported with path and line: %s', async (_name, change) => {
    const folder = makeFolder();
    const { world, writer, close } = await openWorld(folder);
    WORLD_CHANGES.signIn?.(world, 0);
    await writer.whenSaved();
    await close();
    change({ snapshot: join(folder, 'snapshot'), journal: join(folder, 'journal.1') });
    const error = errorOf(() => openSandboxStateFolder(folder));
    expect(error).toMatchObject({
      name: 'StateError',
      reason: 'damaged',
      detail: expect.stringMatching(/, line \d+: /),
    });
    expectGolden('sandbox', parts(error).replaceAll(folder, 'STATE'));
  });
});

describe('the notice about a torn journal', () => {
  it('names the file and the number of bytes', async () => {
    const folder = makeFolder();
    const { close } = await openWorld(folder);
    await close();
    writeFileSync(join(folder, 'journal.1'), '0123abcd 99 {"rec');
    const state = openSandboxStateFolder(folder);
    state.release();
    expectGolden('sandbox', String(state.notice).replaceAll(folder, 'STATE'));
  });
});

describe('a folder that cannot be used', () => {
  it('is reported with its reason: in use, other files, not a folder', async () => {
    const folder = makeFolder();
    const other = makeFolder();
    writeFileSync(join(other, 'thesis.txt'), 'x');
    const state = openSandboxStateFolder(folder);
    const errors = [folder, other, join(other, 'thesis.txt')].map((path) =>
      errorOf(() => openSandboxStateFolder(path)),
    );
    state.release();
    expectGolden('sandbox', errors.map(parts).join('\n\n').replaceAll(folder, 'STATE').replaceAll(other, 'OTHER'));
  });
});

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('no error');
}

function parts(error: unknown): string {
  const { message, detail = '-', hint = '-' } = Object(error);
  return `${message}\ndetail: ${detail}\nhint: ${hint}`;
}
