import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CliError, usageError } from '../../base/errors.ts';
import { redactData } from '../../base/redact.ts';
import { isDiskFull, storageError } from '../../base/storage-error.ts';
import { showInvisible } from '../../base/text.ts';
import { readFileNamedByUser } from '../../cli/user-file.ts';
import { decodePreflightBaseline, type PreflightBaseline } from './baseline.ts';

export function writeReportFile(file: string, text: string): void {
  try {
    writeFileSync(file, redactData(text));
  } catch (error) {
    throw fileWriteError(file, error);
  }
}

/** Checks that the output files can be written before the preflight starts, because a preflight can take a minute. */
export function requireWritableFile(file: string | undefined): void {
  if (file === undefined) return;
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) accessSync(dirname(file), constants.W_OK);
    else accessSync(file, constants.W_OK);
  } catch (error) {
    throw fileWriteError(file, error);
  }
}

export function fileWriteError(file: string, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  const elsewhere = 'give a file in a folder where you have write permission';
  return isDiskFull(error)
    ? storageError(`could not write ${showInvisible(file)}: ${showInvisible(reason)}`, error, { elsewhere })
    : usageError(`could not write ${showInvisible(file)}: ${showInvisible(reason)}`, elsewhere);
}

export function readPreflightBaseline(file: string): PreflightBaseline | undefined {
  const text = readFileNamedByUser(file);
  if (text === undefined) return undefined;
  const baseline = decodePreflightBaseline(text);
  if (baseline === undefined)
    throw usageError(
      `the baseline ${file} is not a preflight report`,
      'give another file with `--baseline`',
      'the baseline file was not changed',
    );
  return baseline;
}
