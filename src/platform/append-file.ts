import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { readTextIfPresent, writeAtomically } from './files.ts';

/** A file of lines, for this user alone, that only grows while it is open. */
export interface AppendFile {
  /** The whole lines that were there. */
  readonly lines: readonly string[];
  /** On the disk when it returns. */
  append(line: string): void;
  close(): void;
}

/**
 * Opens the file, or makes it.
 * @param keep which lines go on; the others are forgotten before anything is appended
 */
export function openAppendFile(path: string, keep: (lines: readonly string[]) => readonly string[]): AppendFile {
  // What stands behind the last line break was cut short by a crash: nobody went on after it.
  const whole = (readTextIfPresent(path) ?? '').split('\n').slice(0, -1);
  const lines = keep(whole);
  writeAtomically(path, lines.map((line) => `${line}\n`).join(''));
  const descriptor = openSync(path, 'a', 0o600);
  return {
    lines,
    append(line) {
      const bytes = Buffer.from(`${line}\n`);
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
      fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}
