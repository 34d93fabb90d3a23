import { isJsonRecord, type JsonRecord, readStringField } from '../base/json.ts';
import {
  type CachedCompletionName,
  type CachedCompletionNames,
  maxCachedCompletionNames,
  readCachedCompletionNames,
  writeCachedCompletionNames,
} from '../config/cached-completion-names.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';

/** The lists of the resource API whose items completion suggests. A response contains the items under the same key. */
export type CompletionListKey = 'droplets' | 'databases' | 'regions' | 'sizes' | 'images';

/** Collects names for completion while a command reads a list. */
export interface CompletionNameCollector {
  /** False when enough names were collected, so that further rows need not be read. */
  readonly isOpen: () => boolean;
  add(rows: readonly JsonRecord[]): void;
  /** @param isWhole whether the rows are the whole list; if so, stored names that are not among them are removed */
  save(isWhole: boolean): void;
}

/**
 * Collects the names for the profile of `settings`. A token of the environment may belong to any account, so its names
 * are not kept.
 */
export function createCompletionNameCollector(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  list: CompletionListKey,
): CompletionNameCollector {
  const collected = new Map<keyof CachedCompletionNames, CachedCompletionName[]>();
  let rowCount = 0;
  return {
    isOpen: () => settings.accessToken === undefined && rowCount < maxCachedCompletionNames,
    add(rows) {
      rowCount += rows.length;
      for (const row of rows)
        for (const [kind, name] of namesOf(list, row)) {
          const names = collected.get(kind) ?? [];
          names.push(name);
          collected.set(kind, names);
        }
    },
    save(isWhole) {
      const { accessToken, profileName, values } = settings;
      if (accessToken !== undefined || values.base_url === undefined) return;
      const { state } = context.host.folders;
      const known = readCachedCompletionNames(state, profileName, values.base_url);
      const merge = (kind: keyof CachedCompletionNames): readonly CachedCompletionName[] => {
        const isReplaced = isWhole && kind === ownKind[list];
        const names = new Map(
          [...(collected.get(kind) ?? []), ...(isReplaced ? [] : known[kind])].map((name) => [name.value, name]),
        );
        return [...names.values()];
      };
      writeCachedCompletionNames(state, profileName, values.base_url, {
        droplets: merge('droplets'),
        clusters: merge('clusters'),
        regions: merge('regions'),
        sizes: merge('sizes'),
        images: merge('images'),
      });
    },
  };
}

/** Caches the names in a response of `cloudctl api`, if the path is one of the lists that completion uses. */
export function cacheCompletionNamesOfResponse(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  path: string,
  json: unknown,
): void {
  const [, list] = /^\/v2\/(droplets|databases|regions|sizes|images)(?:\?.*)?$/.exec(path) ?? [];
  const items = isJsonRecord(json) && list !== undefined ? json[list] : Array.isArray(json) ? json : undefined;
  if (!isRememberedList(list) || !Array.isArray(items)) return;
  const names = createCompletionNameCollector(context, settings, list);
  names.add(items.filter(isJsonRecord).slice(0, maxCachedCompletionNames));
  names.save(false);
}

const ownKind: Readonly<Record<CompletionListKey, keyof CachedCompletionNames>> = {
  droplets: 'droplets',
  databases: 'clusters',
  regions: 'regions',
  sizes: 'sizes',
  images: 'images',
};

function isRememberedList(text: string | undefined): text is CompletionListKey {
  return text !== undefined && Object.hasOwn(ownKind, text);
}

type FoundName = readonly [kind: keyof CachedCompletionNames, name: CachedCompletionName];

function namesOf(list: CompletionListKey, row: JsonRecord): readonly FoundName[] {
  switch (list) {
    case 'droplets': {
      const { region, image } = row;
      return [
        ...named('droplets', readStringField(row, 'name'), `droplet ${String(row.id)}`),
        ...(isJsonRecord(region) ? regionNames(region) : []),
        ...(isJsonRecord(image) ? named('images', readStringField(image, 'slug')) : []),
        ...named('sizes', readStringField(row, 'size_slug')),
      ];
    }
    case 'databases':
      return named('clusters', readStringField(row, 'id'), readStringField(row, 'name'));
    case 'regions':
      return regionNames(row);
    default:
      return named(ownKind[list], readStringField(row, 'slug'));
  }
}

/** Returns completion names of a region: its slug, and the slugs of its sizes. */
function regionNames(region: JsonRecord): readonly FoundName[] {
  const sizes = Array.isArray(region.sizes) ? region.sizes : [];
  return [
    ...named('regions', readStringField(region, 'slug'), readStringField(region, 'name')),
    ...sizes.flatMap((size) => (typeof size === 'string' ? named('sizes', size) : [])),
  ];
}

function named(
  kind: keyof CachedCompletionNames,
  value: string | undefined,
  description?: string,
): readonly FoundName[] {
  return value === undefined ? [] : [[kind, description === undefined ? { value } : { value, description }]];
}
