import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CliError, usageError } from '../../base/errors.ts';
import { redactData } from '../../base/redact.ts';
import { printableJson } from '../../base/sanitize.ts';
import { isDiskFull, storageError } from '../../base/storage-error.ts';
import { showInvisible } from '../../base/text.ts';
import { readUserFile } from '../../cli/user-file.ts';
import { decodeBaseline, type PreflightBaseline } from './baseline.ts';
import { renderHtml } from './formats/html.ts';
import { renderJunit } from './formats/junit.ts';
import { renderMarkdown } from './formats/markdown.ts';
import type { Model } from './formats/model.ts';
import { renderSarif } from './formats/sarif.ts';

/** By file extension. */
const formats: Readonly<Record<string, (model: Model, version: string, sarifUri: string | undefined) => string>> = {
  '.json': ({ report }) => printableJson(report),
  '.md': renderMarkdown,
  '.html': renderHtml,
  '.xml': renderJunit,
  '.sarif': renderSarif,
};

export const reportExtensions: readonly string[] = Object.keys(formats);

/**
 * Renders the report in the format that the file extension selects; undefined if there is no such format.
 * @param version of this program
 * @param sarifUri the file that results of SARIF refer to, relative to the root of its repository
 */
export function renderReport(file: string, model: Model, version: string, sarifUri?: string): string | undefined {
  const extension = reportExtensions.find((known) => file.toLowerCase().endsWith(known));
  return extension === undefined ? undefined : formats[extension]?.(model, version, sarifUri);
}

export function writeReport(file: string, text: string): void {
  try {
    writeFileSync(file, redactData(text));
  } catch (error) {
    throw writeError(file, error);
  }
}

/** Checks that the output files can be written before the preflight starts, because a preflight can take a minute. */
export function requireWritable(file: string | undefined): void {
  if (file === undefined) return;
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) accessSync(dirname(file), constants.W_OK);
    else accessSync(file, constants.W_OK);
  } catch (error) {
    throw writeError(file, error);
  }
}

export function writeError(file: string, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  const elsewhere = 'give a file in a folder where you have write permission';
  return isDiskFull(error)
    ? storageError(`could not write ${showInvisible(file)}: ${showInvisible(reason)}`, error, { elsewhere })
    : usageError(`could not write ${showInvisible(file)}: ${showInvisible(reason)}`, elsewhere);
}

export function readBaseline(file: string): PreflightBaseline | undefined {
  const text = readUserFile(file);
  if (text === undefined) return undefined;
  const baseline = decodeBaseline(text);
  if (baseline === undefined)
    throw usageError(
      `the baseline ${file} is not a preflight report`,
      'give another file with `--baseline`',
      'the baseline file was not changed',
    );
  return baseline;
}
