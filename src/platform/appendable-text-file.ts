import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { readTextIfPresent, writeFileAtomically } from './files.ts';

/** A text file with mode 0600 to which the program appends lines. */
export interface AppendableTextFile {
  /** The complete lines that the file contained when it was opened. */
  readonly lines: readonly string[];
  /** Appends one line and returns when the line is stored on the disk. */
  append(line: string): void;
  close(): void;
}

/**
 * Opens or creates a file to append lines. @param keep selects the lines to keep; the others are removed before any line is
 * appended
 */
export function openAppendableTextFile(
  path: string,
  keep: (lines: readonly string[]) => readonly string[],
): AppendableTextFile {
  // Text after the last line break is a line that a crash has cut off, so it is removed.
  const complete = (readTextIfPresent(path) ?? '').split('\n').slice(0, -1);
  const lines = keep(complete);
  writeFileAtomically(path, lines.map((line) => `${line}\n`).join(''));
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
