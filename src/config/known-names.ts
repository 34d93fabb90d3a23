import { closeSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonRecord, readStringField, tryParseJson } from '../base/json.ts';
import { redactData } from '../base/redact.ts';
import { replaceUnprintable } from '../base/sanitize.ts';
import { createTemporary, ensureFolder } from '../platform/files.ts';

export type Kind = 'droplets' | 'clusters' | 'regions' | 'sizes' | 'images';

/** Names that the commands of a profile have seen, for completion. */
export type KnownNames = Readonly<Record<Kind, readonly KnownName[]>>;

export interface KnownName {
  readonly value: string;
  readonly description?: string;
}

export function ofEachKind(names: (kind: Kind) => readonly KnownName[]): KnownNames {
  return {
    droplets: names('droplets'),
    clusters: names('clusters'),
    regions: names('regions'),
    sizes: names('sizes'),
    images: names('images'),
  };
}

export const noNames = ofEachKind(() => []);

/** The maximum number of cached names of one kind, which keeps the cache file below 1 MB. */
export const maxNames = 1000;
const maxLength = 255;
const maxBytes = 4_000_000;

/**
 * The completion names that were cached for this server; empty when the cache file is missing, damaged or of another server.
 */
export function readNames(stateFolder: string, profile: string, baseOrigin: string | undefined): KnownNames {
  const json = tryParseJson(readCacheText(cachePath(stateFolder, profile)));
  if (!json.ok || !isJsonRecord(json.value) || baseOrigin === undefined || json.value.base_url !== baseOrigin)
    return noNames;
  const { value } = json;
  return ofEachKind((kind) => (Array.isArray(value[kind]) ? decodeNames(value[kind]) : []));
}

/**
 * Replaces the completion names that are cached for this server. A cache must not make a command fail, so every error is
 * ignored. The cache is not synced to the disk, because losing it in a crash does no harm.
 */
export function writeNames(stateFolder: string, profile: string, baseOrigin: string, names: KnownNames): void {
  const path = cachePath(stateFolder, profile);
  const kept = Object.entries(names).map(([kind, list]) => [kind, decodeNames(list)]);
  const text = redactData(`${JSON.stringify({ base_url: baseOrigin, ...Object.fromEntries(kept) })}\n`);
  if (text === readCacheText(path)) return;
  let temporary: string | undefined;
  try {
    ensureFolder(cacheFolder(stateFolder));
    const created = createTemporary(path);
    temporary = created.temporary;
    writeFileSync(created.descriptor, text);
    closeSync(created.descriptor);
    renameSync(temporary, path);
  } catch {
    if (temporary !== undefined) rmSync(temporary, { force: true });
  }
}

/** Called after login and logout: cached names belong to the account of the earlier session, so they are removed. */
export function forgetNames(stateFolder: string, profile: string): void {
  try {
    rmSync(cachePath(stateFolder, profile), { force: true });
  } catch {
    // A folder that cannot be written has no new names either.
  }
}

function decodeNames(list: readonly unknown[]): readonly KnownName[] {
  const names = new Map<string, KnownName>();
  for (const item of list) {
    const value = isJsonRecord(item) ? readStringField(item, 'value') : undefined;
    const description = isJsonRecord(item) ? readStringField(item, 'description') : undefined;
    if (value === undefined || !isCompletable(value) || names.size >= maxNames) continue;
    names.set(value, description === undefined || !isCompletable(description) ? { value } : { value, description });
  }
  return [...names.values()];
}

/**
 * Whether completion may suggest the text: one line of printable characters without backslashes, as in every name of the
 * service. The completion scripts quote blanks, quotes and `$(…)`.
 */
function isCompletable(text: string): boolean {
  return text !== '' && text.length <= maxLength && replaceUnprintable(text) === text && !/[\\\t\n]/.test(text);
}

function readCacheText(path: string): string {
  try {
    const file = lstatSync(path);
    return file.isFile() && file.size <= maxBytes ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

function cacheFolder(stateFolder: string): string {
  return join(stateFolder, 'completion');
}

/** Names of profiles have no characters that are special in paths. */
function cachePath(stateFolder: string, profile: string): string {
  return join(cacheFolder(stateFolder), `${profile}.json`);
}
