import { join } from 'node:path';
import { asInteger, DecodeError, type Decoder, objectOf } from './decoder.ts';
import { decodeFrames } from './frame.ts';
import { findStateInconsistency } from './inconsistency.ts';
import { decodeJournalPatch } from './sandbox-state-decoder.ts';
import { decodeCheckpoint, type SavedState, type SavedStateCheckpoint } from './saved-state.ts';
import { damagedStateError } from './state-error.ts';
import { readFileIfExists } from './state-files.ts';
import { applyPatches, type StatePatch } from './state-patch.ts';

/** The saved state of a folder, and the position at which its journal continues. */
export interface LoadedState {
  readonly saved: SavedState;
  /** The number of the journal file. */
  readonly journal: number;
  /** The number of the last record. */
  readonly record: number;
  /** The length of the complete records of the journal in bytes. */
  readonly validBytes: number;
  /** The number of bytes after the complete records, from a record whose write a crash interrupted. */
  readonly tornBytes: number;
}

/** The pattern of the file names of journals. */
export const JOURNAL_NAME = /^journal\.\d+$/;

export function snapshotPath(folder: string): string {
  return join(folder, 'snapshot');
}

export function journalPath(folder: string, number: number): string {
  return join(folder, `journal.${number}`);
}

/**
 * Reads the snapshot file and its journal; undefined for a folder without saved state. Throws a StateError when a file is
 * damaged or missing.
 */
export function loadState(folder: string, names: readonly string[]): LoadedState | undefined {
  const path = snapshotPath(folder);
  const bytes = readFileIfExists(path);
  if (bytes === undefined) {
    const journals = names.filter((name) => JOURNAL_NAME.test(name));
    const orphan = journals.find((name) => (readFileIfExists(join(folder, name))?.length ?? 0) > 0);
    if (orphan !== undefined) throw damagedStateError(path, 1, `the file is missing, and ${orphan} needs it`);
    return undefined;
  }
  const checkpoint = readCheckpoint(path, bytes);
  const journalFile = journalPath(folder, checkpoint.journal);
  const journal = readFileIfExists(journalFile);
  if (journal === undefined) throw damagedStateError(journalFile, 1, 'the file is missing');
  const { records, validBytes, tornBytes } = decodeFrames(journalFile, journal);
  const patches = records.map((json, at) => {
    const { record, patch } = decodeJson(decodeJournalRecord, json, journalFile, at + 1);
    const expected = checkpoint.record + at + 1;
    if (record !== expected)
      throw damagedStateError(journalFile, at + 1, `found record ${record}, expected ${expected}`);
    return patch;
  });
  const world = applyPatches(checkpoint.world, patches);
  const inconsistency = findStateInconsistency(checkpoint.seed, world);
  if (inconsistency !== undefined) {
    throw damagedStateError(patches.length > 0 ? journalFile : path, Math.max(1, patches.length), inconsistency);
  }
  return {
    saved: { identity: checkpoint.identity, seed: checkpoint.seed, world },
    journal: checkpoint.journal,
    record: checkpoint.record + patches.length,
    validBytes,
    tornBytes,
  };
}

/** A snapshot file gets its name only after it was written completely, so it cannot be incomplete after a crash. */
function readCheckpoint(path: string, bytes: Buffer): SavedStateCheckpoint {
  const { records, tornBytes } = decodeFrames(path, bytes);
  const [json] = records;
  if (json === undefined || tornBytes > 0) throw damagedStateError(path, 1, 'the record is incomplete');
  if (records.length > 1) throw damagedStateError(path, 2, 'the file has more than one record');
  return decodeJson(decodeCheckpoint, json, path, 1);
}

function decodeJson<T>(decode: Decoder<T>, json: string, path: string, line: number): T {
  try {
    return decode(JSON.parse(json), '');
  } catch (error) {
    throw damagedStateError(path, line, error instanceof DecodeError ? error.message : 'the record is not valid JSON');
  }
}

/** One record of a journal, which contains the changes of all requests that were answered together. */
const decodeJournalRecord = objectOf<{ readonly record: number; readonly patch: StatePatch }>({
  record: asInteger,
  patch: decodeJournalPatch,
});
