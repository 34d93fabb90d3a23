import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { isJsonRecord, readNumberField, tryParseJson } from '../../base/json.ts';
import { ensureFolder, readTextIfReadable, removeFileDurably, writeFileAtomically } from '../../platform/files.ts';
import {
  decodeWatchedSourceBaseline,
  encodeWatchedSourceBaseline,
  type WatchedSourceBaseline,
} from './postgresql/watched-source-baseline.ts';
import { formatSourceName, type WatchedSourceAddress } from './watch-record.ts';

/** `migrations/baseline-<fingerprint>.json` in the state folder: one for each source and target cluster. */
export function watchedSourceBaselinePath(stateFolder: string, source: WatchedSourceAddress, cluster: string): string {
  const fingerprint = createHash('sha256')
    .update(`${source.engine} ${formatSourceName(source)} ${cluster}`)
    .digest('hex')
    .slice(0, 32);
  return join(stateFolder, 'migrations', `baseline-${fingerprint}.json`);
}

/**
 * Returns undefined if there is no baseline, or if its file is damaged or unreadable. A watch then uses its first poll
 * as the baseline.
 */
export function readWatchedSourceBaselineFile(path: string): WatchedSourceBaseline | undefined {
  const json = tryParseJson(readTextIfReadable(path) ?? '');
  if (!json.ok || !isJsonRecord(json.value) || readNumberField(json.value, 'version') !== 1) return undefined;
  return decodeWatchedSourceBaseline(json.value);
}

/**
 * Writes the baseline of a migration that starts now.
 * @param baseline undefined: the source could not be read, and the baseline of an earlier migration is removed
 */
export function writeWatchedSourceBaselineFile(path: string, baseline: WatchedSourceBaseline | undefined): void {
  if (baseline === undefined) {
    removeFileDurably(path);
    return;
  }
  ensureFolder(dirname(path));
  writeFileAtomically(path, `${JSON.stringify({ version: 1, ...encodeWatchedSourceBaseline(baseline) })}\n`);
}
