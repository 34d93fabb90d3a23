import { join } from 'node:path';
import { asInteger, DecodeError, type Decoder, objectOf } from './decoder.ts';
import { decodeFrames, type FrameReading } from './frame.ts';
import { findInconsistency } from './inconsistency.ts';
import { type Checkpoint, decodeCheckpoint, type SavedState } from './saved-state.ts';
import { damagedState } from './state-error.ts';
import { readFileIfExists } from './state-files.ts';
import { applyPatches, type StatePatch } from './state-patch.ts';
import { decodeStatePatch } from './world-image-decoder.ts';

/** A folder read back: what was saved, and where the journal goes on. */
export interface LoadedState {
  readonly saved: SavedState;
  readonly journal: number;
  readonly record: number;
  /** Bytes of the journal that are whole, and of the write behind them that a crash cut short. */
  readonly sound: number;
  readonly torn: number;
}

/** One line of a journal: the changes of everything that was answered together. */
interface JournalLine {
  readonly record: number;
  readonly patch: StatePatch;
}

/** undefined when nothing was ever saved there. Throws a StateError for anything that is damaged. */
export function loadState(folder: string, names: readonly string[]): LoadedState | undefined {
  const path = snapshotPath(folder);
  const bytes = readFileIfExists(path);
  const journals = names.filter((name) => JOURNAL_NAME.test(name));
  if (bytes === undefined) {
    const left = journals.find((name) => (readFileIfExists(join(folder, name))?.length ?? 0) > 0);
    if (left !== undefined) throw damagedState(path, 1, `it is missing, and ${left} is of no use without it`);
    return undefined;
  }
  const checkpoint = readCheckpoint(path, bytes);
  const journalFile = journalPath(folder, checkpoint.journal);
  const journal = readFileIfExists(journalFile);
  if (journal === undefined) throw damagedState(journalFile, 1, 'it is missing');
  const reading = unspoiled(journalFile, decodeFrames(journal));
  const patches = reading.records.map((json, at) => {
    const line = decoded(decodeLine, json, journalFile, at + 1);
    const wanted = checkpoint.record + at + 1;
    if (line.record !== wanted)
      throw damagedState(journalFile, at + 1, `it is record ${line.record} where ${wanted} belongs`);
    return line.patch;
  });
  const world = applyPatches(checkpoint.world, patches);
  const problem = findInconsistency(checkpoint.seed, world);
  if (problem !== undefined)
    throw damagedState(patches.length > 0 ? journalFile : path, Math.max(1, patches.length), problem);
  return {
    saved: { identity: checkpoint.identity, seed: checkpoint.seed, world },
    journal: checkpoint.journal,
    record: checkpoint.record + patches.length,
    sound: reading.sound,
    torn: reading.torn,
  };
}

export function snapshotPath(folder: string): string {
  return join(folder, 'snapshot');
}

export function journalPath(folder: string, number: number): string {
  return join(folder, `journal.${number}`);
}

export const JOURNAL_NAME = /^journal\.\d+$/;

/** The snapshot has its name only since it was whole, so that nothing in it can be torn. */
function readCheckpoint(path: string, bytes: Buffer): Checkpoint {
  const reading = unspoiled(path, decodeFrames(bytes));
  const [json] = reading.records;
  if (json === undefined || reading.torn > 0) throw damagedState(path, 1, 'it is cut short');
  if (reading.records.length > 1) throw damagedState(path, 2, 'it has more than one line');
  return decoded(decodeCheckpoint, json, path, 1);
}

function unspoiled(path: string, reading: FrameReading): FrameReading {
  if (reading.damage !== undefined) throw damagedState(path, reading.damage.line, reading.damage.what);
  return reading;
}

function decoded<T>(decode: Decoder<T>, json: string, path: string, line: number): T {
  try {
    return decode(JSON.parse(json), '');
  } catch (error) {
    if (error instanceof DecodeError) throw damagedState(path, line, error.message);
    throw damagedState(path, line, 'it is no JSON');
  }
}

const decodeLine = objectOf<JournalLine>({ record: asInteger, patch: decodeStatePatch });
