import { join } from 'node:path';
import { type Patch, patched } from './changes.ts';
import { type Decoder, object, UnreadableError, whole } from './decoder.ts';
import { bytesIfAny } from './disk.ts';
import { type Reading, readFrames } from './frame.ts';
import { decodePatch } from './image-decoder.ts';
import { contradiction } from './integrity.ts';
import { type Checkpoint, decodeCheckpoint, type Saved } from './saved.ts';
import { damaged } from './state-error.ts';

/** A folder read back: what was saved, and where the journal goes on. */
export interface Loaded {
  readonly saved: Saved;
  readonly journal: number;
  readonly record: number;
  /** Bytes of the journal that are whole, and of the write behind them that a crash cut short. */
  readonly sound: number;
  readonly torn: number;
}

/** One line of a journal: the changes of everything that was answered together. */
interface Line {
  readonly record: number;
  readonly patch: Patch;
}

/** undefined when nothing was ever saved there. Throws a StateError for anything that is damaged. */
export function load(folder: string, names: readonly string[]): Loaded | undefined {
  const path = snapshotPath(folder);
  const bytes = bytesIfAny(path);
  const journals = names.filter((name) => JOURNAL.test(name));
  if (bytes === undefined) {
    const left = journals.find((name) => (bytesIfAny(join(folder, name))?.length ?? 0) > 0);
    if (left !== undefined) throw damaged(path, 1, `it is missing, and ${left} is of no use without it`);
    return undefined;
  }
  const checkpoint = readCheckpoint(path, bytes);
  const journalFile = journalPath(folder, checkpoint.journal);
  const journal = bytesIfAny(journalFile);
  if (journal === undefined) throw damaged(journalFile, 1, 'it is missing');
  const reading = unspoiled(journalFile, readFrames(journal));
  const patches = reading.records.map((json, at) => {
    const line = decoded(decodeLine, json, journalFile, at + 1);
    const wanted = checkpoint.record + at + 1;
    if (line.record !== wanted)
      throw damaged(journalFile, at + 1, `it is record ${line.record} where ${wanted} belongs`);
    return line.patch;
  });
  const world = patched(checkpoint.world, patches);
  const problem = contradiction(checkpoint.seed, world);
  if (problem !== undefined)
    throw damaged(patches.length > 0 ? journalFile : path, Math.max(1, patches.length), problem);
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

export const JOURNAL = /^journal\.\d+$/;

/** The snapshot has its name only since it was whole, so that nothing in it can be torn. */
function readCheckpoint(path: string, bytes: Buffer): Checkpoint {
  const reading = unspoiled(path, readFrames(bytes));
  const [json] = reading.records;
  if (json === undefined || reading.torn > 0) throw damaged(path, 1, 'it is cut short');
  if (reading.records.length > 1) throw damaged(path, 2, 'it has more than one line');
  return decoded(decodeCheckpoint, json, path, 1);
}

function unspoiled(path: string, reading: Reading): Reading {
  if (reading.damage !== undefined) throw damaged(path, reading.damage.line, reading.damage.what);
  return reading;
}

function decoded<T>(decode: Decoder<T>, json: string, path: string, line: number): T {
  try {
    return decode(JSON.parse(json), '');
  } catch (error) {
    if (error instanceof UnreadableError) throw damaged(path, line, error.message);
    throw damaged(path, line, 'it is no JSON');
  }
}

const decodeLine = object<Line>({ record: whole, patch: decodePatch });
