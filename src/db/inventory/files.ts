import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, usageError } from '../../base/errors.ts';
import { printableJson } from '../../base/sanitize.ts';
import { ensureFolder, writeAtomically } from '../../platform/files.ts';
import {
  findBaselineChanges,
  type PreflightBaseline,
  type PreflightReport,
  readBaseline,
  type SchemaFingerprints,
  writeError,
} from '../preflight/index.ts';

/** Creates the folder with one file for each source, if it is missing. Throws a CliError (usage) if that is not possible. */
export function openFolder(path: string, option: string): string {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
      throw usageError(`${path} is a file`, `give a folder with \`${option}\`: it has one file for each source`);
    ensureFolder(path);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw writeError(path, error);
    throw error;
  }
  return path;
}

/**
 * The name of the file for a source: it contains the readable characters of the source name, and is unique for each name.
 */
export function sourceFileName(name: string): string {
  const readable = name
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .slice(0, 80)
    .replace(/^[.-]+/, '_');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${readable}-${hash}.json`;
}

export function writeSourceReport(folder: string, name: string, report: object): void {
  const file = join(folder, sourceFileName(name));
  try {
    writeAtomically(file, printableJson(report));
  } catch (error) {
    throw writeError(file, error);
  }
}

/** The baseline of the source; undefined if it has none yet. Throws a CliError (usage) for a file that is no baseline. */
export function readSourceBaseline(folder: string, name: string): PreflightBaseline | undefined {
  return readBaseline(join(folder, sourceFileName(name)));
}

/** The changes since the baseline, one line each. */
export function describeBaselineChanges(
  baseline: PreflightBaseline,
  report: PreflightReport,
  schemas: SchemaFingerprints | undefined,
): readonly string[] {
  return findBaselineChanges(baseline, report, schemas).map(({ id, database, before, after }) => {
    const where = database === undefined ? id : `${id} in ${database}`;
    const state = (one: typeof before) => (one === undefined ? 'absent' : `${one.status} (${one.observed})`);
    return `${where}: ${state(before)} before, ${state(after)} now`;
  });
}

/** Files of an inventory that could not be read or written. They end neither the checks nor the report. */
export interface FileFailures {
  /** Returns whether `work` succeeded. A CliError of it is kept for the end of the run. */
  readonly attempt: (work: () => void) => boolean;
  /** The error of the run; undefined if no file failed. */
  readonly error: () => CliError | undefined;
}

export function createFileFailures(): FileFailures {
  let first: CliError | undefined;
  let count = 0;
  return {
    attempt(work) {
      try {
        work();
        return true;
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        first ??= error;
        count += 1;
        return false;
      }
    },
    error() {
      if (first === undefined) return undefined;
      // Not `usage`: the options were right when the run began, and sources were checked.
      return new CliError('storage', first.message, {
        detail: count === 1 ? undefined : `${count} files could not be used; this is the first of them`,
        hint: 'correct the cause, such as a full disk, and run the same command again',
        cause: first,
      });
    },
  };
}
