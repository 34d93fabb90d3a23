import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { isJsonRecord, readNumberField, readStringField, tryParseJson } from '../../base/json.ts';
import { redactData } from '../../base/redact.ts';
import { ensureFolder, openAppendable } from '../../platform/files.ts';

/** What happened during the cut-over, for the report. */
export interface WindowEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly what: string;
  readonly evidence: string;
}

/** The events of all runs of one cut-over. */
export interface Window {
  /** Of earlier runs. */
  readonly earlier: readonly WindowEvent[];
  add(event: WindowEvent): void;
  close(): void;
}

/** Many times what one cut-over has; older lines are removed. */
const mostLines = 10_000;

/**
 * Opens the events of the cut-over of a migration, which are stored in the state folder, so that a run that continues another
 * one, also one that was killed, has them in its report. Never throws: a full disk must not end a cut-over.
 * @param recordPath of the watch record of the source
 * @param migration tells the events of this migration from those of earlier ones of the same source
 */
export function openWindow(recordPath: string, migration: string): Window {
  const path = join(dirname(recordPath), `window-${basename(recordPath, '.json')}.ndjson`);
  try {
    ensureFolder(dirname(path));
    const file = openAppendable(path, (lines) => lines.slice(-mostLines));
    return {
      earlier: file.lines.flatMap((line) => decodeEvent(line, migration)),
      add(event) {
        try {
          file.append(redactData(JSON.stringify({ migration, ...event })));
        } catch {}
      },
      close: () => file.close(),
    };
  } catch {
    return { earlier: [], add() {}, close() {} };
  }
}

function decodeEvent(line: string, migration: string): readonly WindowEvent[] {
  const json = tryParseJson(line);
  if (!json.ok || !isJsonRecord(json.value) || readStringField(json.value, 'migration') !== migration) return [];
  const { value } = json;
  const [at, what] = [readNumberField(value, 'at'), readStringField(value, 'what')];
  if (at === undefined || what === undefined) return [];
  return [{ at, what, evidence: readStringField(value, 'evidence') ?? '' }];
}

/**
 * The file that gets the report: the wanted one, unless it has something else than an earlier report of this cut-over, such as
 * the report of another one; then the first free name beside it.
 * @param mark is in every report of this cut-over, and in no other
 */
export function reportFileOf(wanted: string, mark: string): string {
  const extension = extname(wanted);
  const stem = wanted.slice(0, wanted.length - extension.length);
  for (let number = 1; ; number++) {
    const file = number === 1 ? wanted : `${stem}-${number}${extension}`;
    const found = statSync(file, { throwIfNoEntry: false });
    // A device, a pipe or an empty file holds nothing that could be lost.
    if (found === undefined || !found.isFile() || found.size === 0) return file;
    if (readFileSync(file, 'utf8').includes(mark)) return file;
  }
}
