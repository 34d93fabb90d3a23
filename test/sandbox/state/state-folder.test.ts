import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryJournalName } from '../../../src/sandbox/state/journal.ts';
import { openStateFolder } from '../../../src/sandbox/state/state-folder.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { makeFolder, openWorld } from './state-folders.ts';
import { WORLD_CHANGES } from './world-changes.ts';

/** The text of a damaged journal, made of the lines of a good one. */
type Damage = (lines: readonly string[]) => string;

const withLine =
  (line: string): Damage =>
  (lines) =>
    [...lines, line, ''].join('\n');

const CASES: Readonly<Record<string, Damage>> = {
  'an empty file': () => '',
  'half a head': ([head = '']) => head.slice(0, 99),
  'another format': (lines) => ['{"format":"other"}', ...lines.slice(1), ''].join('\n'),
  'no JSON in the middle': ([head, ...rest]) => [head, '{', ...rest, ''].join('\n'),
  'no JSON in the last line': withLine('rubbish'),
  'an empty line': ([head, ...rest]) => [head, '', ...rest, ''].join('\n'),
  'zeros in the middle': ([head, ...rest]) => [head, '\0\0\0', ...rest, ''].join('\n'),
  'an unknown member': withLine('{"put":{"color":"red"},"drop":{}}'),
  'an unknown table': withLine('{"put":{},"drop":{"colors":[]}}'),
  'a wrong type': withLine('{"put":{"nextId":"x"},"drop":{}}'),
  'a session of an unknown person': withLine('{"put":{"sessions":[{"id":"s","person":"p","forms":[]}]},"drop":{}}'),
};

describe('a damaged journal', () => {
  it.each(Object.entries(CASES))('is reported with path and line, and not changed: %s', async (_name, damage) => {
    const folder = makeFolder();
    const { world, writer, journal, close } = await openWorld(folder);
    WORLD_CHANGES.signIn?.(world, 0);
    await writer.whenSaved();
    await close();
    const damaged = damage(readFileSync(journal, 'utf8').split('\n').slice(0, -1));
    writeFileSync(journal, damaged);
    const error = errorOf(() => openStateFolder(folder));
    expect(error).toMatchObject({
      name: 'StateError',
      reason: 'damaged',
      detail: expect.stringMatching(/, line \d+: /),
    });
    expectGolden('sandbox', parts(error).replaceAll(folder, 'STATE'));
    expect(readFileSync(journal, 'utf8')).toBe(damaged);
  });
});

describe('the notice about a torn journal', () => {
  it('names the file and the number of bytes', async () => {
    const folder = makeFolder();
    const { journal, close } = await openWorld(folder);
    await close();
    writeFileSync(journal, `${readFileSync(journal, 'utf8')}{"put":{"sessions`);
    const state = openStateFolder(folder);
    state.release();
    expectGolden('sandbox', String(state.notice).replaceAll(folder, 'STATE'));
  });
});

describe('a folder that cannot be used', () => {
  it('is reported with its reason: in use, other files, not a folder', async () => {
    const folder = makeFolder();
    const other = makeFolder();
    writeFileSync(join(other, 'thesis.txt'), 'x');
    const state = openStateFolder(folder);
    const errors = [folder, other, join(other, 'thesis.txt')].map((path) => errorOf(() => openStateFolder(path)));
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

it('a pipe in the place of the journal is an error and does not wait for a writer', async () => {
  const folder = makeFolder();
  const { journal, close } = await openWorld(folder);
  await close();
  rmSync(journal);
  execFileSync('mkfifo', [journal]);
  expect(() => openStateFolder(folder)).toThrow(journal);
});

it('a pipe in the place of the next journal is replaced and does not wait for a reader', async () => {
  const folder = makeFolder();
  const { journal, close } = await openWorld(folder);
  await close();
  execFileSync('mkfifo', [join(folder, temporaryJournalName(journal))]);
  const again = await openWorld(folder);
  await again.close();
  expect(statSync(journal).isFile()).toBe(true);
});
