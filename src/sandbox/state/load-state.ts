import { join } from 'node:path';
import { createObjectDecoder, decodeInteger, JsonDecodeError, type JsonDecoder } from './decoder.ts';
import { findSandboxStateInconsistency } from './inconsistency.ts';
import { decodeSandboxJournalPatch } from './sandbox-state-decoder.ts';
import { decodeSandboxStateCheckpoint, type SandboxStateCheckpoint, type SavedSandboxState } from './saved-state.ts';
import { damagedSandboxStateError } from './state-error.ts';
import { readFileIfExists } from './state-files.ts';
import { applySandboxJournalPatches, type SandboxJournalPatch } from './state-patch.ts';
import { extractStateFileRecords } from './state-record-encoding.ts';

/** The saved state of a folder, and the position at which its journal continues. */
export interface LoadedSandboxState {
  readonly saved: SavedSandboxState;
  /** The number of the journal file. */
  readonly journal: number;
  /** The number of the last complete record of the journal. */
  readonly record: number;
  /** The length of the complete records of the journal in bytes. */
  readonly validBytes: number;
  /** The number of bytes after the complete records, from a record whose write a crash interrupted. */
  readonly tornBytes: number;
}

/** The pattern of the file names of journals. */
export const SANDBOX_JOURNAL_NAME_PATTERN = /^journal\.\d+$/;

export function buildSandboxSnapshotPath(folder: string): string {
  return join(folder, 'snapshot');
}

export function buildSandboxJournalPath(folder: string, number: number): string {
  return join(folder, `journal.${number}`);
}

/**
 * Reads the snapshot file and its journal; undefined for a folder without saved state. Throws a StateError when a file is
 * damaged or missing.
 */
export function loadSandboxState(folder: string, names: readonly string[]): LoadedSandboxState | undefined {
  const path = buildSandboxSnapshotPath(folder);
  const bytes = readFileIfExists(path);
  if (bytes === undefined) {
    const journals = names.filter((name) => SANDBOX_JOURNAL_NAME_PATTERN.test(name));
    const orphan = journals.find((name) => (readFileIfExists(join(folder, name))?.length ?? 0) > 0);
    if (orphan !== undefined) throw damagedSandboxStateError(path, 1, `the file is missing, and ${orphan} needs it`);
    return undefined;
  }
  const checkpoint = readCheckpoint(path, bytes);
  const journalFile = buildSandboxJournalPath(folder, checkpoint.journal);
  const journal = readFileIfExists(journalFile);
  if (journal === undefined) throw damagedSandboxStateError(journalFile, 1, 'the file is missing');
  const { records, validBytes, tornBytes } = extractStateFileRecords(journalFile, journal);
  const patches = records.map((json, at) => {
    const { record, patch } = decodeJson(decodeJournalRecord, json, journalFile, at + 1);
    const expected = checkpoint.record + at + 1;
    if (record !== expected)
      throw damagedSandboxStateError(journalFile, at + 1, `found record ${record}, expected ${expected}`);
    return patch;
  });
  const world = applySandboxJournalPatches(checkpoint.world, patches);
  const inconsistency = findSandboxStateInconsistency(checkpoint.seed, world);
  if (inconsistency !== undefined) {
    throw damagedSandboxStateError(patches.length > 0 ? journalFile : path, Math.max(1, patches.length), inconsistency);
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
function readCheckpoint(path: string, bytes: Buffer): SandboxStateCheckpoint {
  const { records, tornBytes } = extractStateFileRecords(path, bytes);
  const [json] = records;
  if (json === undefined || tornBytes > 0) throw damagedSandboxStateError(path, 1, 'the record is incomplete');
  if (records.length > 1) throw damagedSandboxStateError(path, 2, 'the file has more than one record');
  return decodeJson(decodeSandboxStateCheckpoint, json, path, 1);
}

function decodeJson<T>(decode: JsonDecoder<T>, json: string, path: string, line: number): T {
  try {
    return decode(JSON.parse(json), '');
  } catch (error) {
    throw damagedSandboxStateError(
      path,
      line,
      error instanceof JsonDecodeError ? error.message : 'the record is not valid JSON',
    );
  }
}

/** One record of a journal, which contains the changes of all requests that were answered together. */
const decodeJournalRecord = createObjectDecoder<{ readonly record: number; readonly patch: SandboxJournalPatch }>({
  record: decodeInteger,
  patch: decodeSandboxJournalPatch,
});
