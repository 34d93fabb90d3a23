import {
  type CachedCompletionName,
  type CachedCompletionNames,
  maxCachedCompletionNames,
  readCachedCompletionNames,
  writeCachedCompletionNames,
} from '../config/cached-completion-names.ts';
import type { ProfileSettings } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';
import { isJsonRecord, type JsonRecord, readStringField } from '../json.ts';

/** Lists of the resource API whose names completion suggests; also their keys in a response. */
export type CompletionListKey = 'droplets' | 'databases' | 'regions' | 'sizes' | 'images';

/** Collects names for completion while a command reads a list. */
export interface CompletionNameCollector {
  /** False when enough names are known, so that no more rows need to be read for them. */
  readonly isOpen: () => boolean;
  add(rows: readonly JsonRecord[]): void;
  /** @param isWhole the rows are the whole list: names that were seen before and are not among them are gone */
  save(isWhole: boolean): void;
}

/**
 * Collects the names for the profile of `settings`. A token of the environment may belong to any account, so its names
 * are not kept.
 */
export function createCompletionNameCollector(
  context: CommandContext,
  settings: ProfileSettings,
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

/** The names in the response of `cloudctl api`, if it is one of these lists. */
export function cacheCompletionNamesOfResponse(
  context: CommandContext,
  settings: ProfileSettings,
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

/** A region names the sizes that it has. */
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
