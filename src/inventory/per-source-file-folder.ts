import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from '../base/errors.ts';
import { escapeUnprintable } from '../base/sanitize.ts';
import { ensureFolder, writeFileAtomically } from '../platform/files.ts';
import {
  findPreflightChangesSinceBaseline,
  type PreflightBaseline,
  type SchemaFingerprints,
} from '../preflight/baseline.ts';
import type { PreflightReport } from '../preflight/report.ts';
import { fileWriteError, readPreflightBaseline } from '../preflight/write-report-file.ts';

/** A folder with one JSON file (a report or a baseline) for each source. */
export interface PerSourceFileFolder {
  readonly path: string;
}

/** Creates the folder if it is missing. Throws a CliError (usage) if that is not possible. */
export function openPerSourceFileFolder(path: string, option: string): PerSourceFileFolder {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
      throw usageError(`${path} is a file`, `give a folder with \`${option}\`: it has one file for each source`);
    ensureFolder(path);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw fileWriteError(path, error);
    throw error;
  }
  return { path };
}

/**
 * The name of the file for a source: it contains the readable characters of the source name, and is unique for each name.
 */
export function perSourceFileName(name: string): string {
  const readable = name
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .slice(0, 80)
    .replace(/^[.-]+/, '_');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${readable}-${hash}.json`;
}

export function writeInventorySourceReport({ path }: PerSourceFileFolder, name: string, report: object): void {
  const file = join(path, perSourceFileName(name));
  try {
    writeFileAtomically(file, `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`);
  } catch (error) {
    throw fileWriteError(file, error);
  }
}

/** The baseline of the source; undefined if it has none yet. Throws a CliError (usage) for a file that is no baseline. */
export function readPreflightBaselineOfSource(
  { path }: PerSourceFileFolder,
  name: string,
): PreflightBaseline | undefined {
  return readPreflightBaseline(join(path, perSourceFileName(name)));
}

/** The changes since the baseline, one line each. */
export function describeBaselineChanges(
  baseline: PreflightBaseline,
  report: PreflightReport,
  schemas: SchemaFingerprints | undefined,
): readonly string[] {
  return findPreflightChangesSinceBaseline(baseline, report, schemas).map(({ id, database, before, after }) => {
    const where = database === undefined ? id : `${id} in ${database}`;
    const state = (one: typeof before) => (one === undefined ? 'absent' : `${one.status} (${one.observed})`);
    return `${where}: ${state(before)} before, ${state(after)} now`;
  });
}
