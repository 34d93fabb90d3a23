import { isJsonRecord, type JsonRecord, readStringField } from '../base/json.ts';
import { type Kind, type KnownName, maxNames, ofEachKind, readNames, writeNames } from './known-names.ts';
import type { ProfileSettings } from './settings.ts';

/** The lists of the resource API whose items completion suggests. A response contains the items under the same key. */
export type ListKey = 'droplets' | 'databases' | 'regions' | 'sizes' | 'images';

/** Collects names for completion while a command reads a list. */
type NamedProfile = Pick<ProfileSettings, 'accessToken' | 'profileName' | 'values'>;

export interface NameCollector {
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
export function collectNames(stateFolder: string, settings: NamedProfile, list: ListKey): NameCollector {
  const collected = new Map<Kind, KnownName[]>();
  let rowCount = 0;
  return {
    isOpen: () => settings.accessToken === undefined && rowCount < maxNames,
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
      const known = readNames(stateFolder, profileName, values.base_url);
      const merged = ofEachKind((kind) => {
        const isReplaced = isWhole && kind === ownKind[list];
        const names = [...(collected.get(kind) ?? []), ...(isReplaced ? [] : known[kind])];
        return [...new Map(names.map((name) => [name.value, name])).values()];
      });
      writeNames(stateFolder, profileName, values.base_url, merged);
    },
  };
}

/** Caches the names in a response of `cloudctl api`, if the path is one of the lists that completion uses. */
export function rememberResponse(stateFolder: string, settings: NamedProfile, path: string, json: unknown): void {
  const [, list] = /^\/v2\/(droplets|databases|regions|sizes|images)(?:\?.*)?$/.exec(path) ?? [];
  const items = isJsonRecord(json) && list !== undefined ? json[list] : Array.isArray(json) ? json : undefined;
  if (!isRememberedList(list) || !Array.isArray(items)) return;
  const names = collectNames(stateFolder, settings, list);
  names.add(items.filter(isJsonRecord).slice(0, maxNames));
  names.save(false);
}

const ownKind: Readonly<Record<ListKey, Kind>> = {
  droplets: 'droplets',
  databases: 'clusters',
  regions: 'regions',
  sizes: 'sizes',
  images: 'images',
};

function isRememberedList(text: string | undefined): text is ListKey {
  return text !== undefined && Object.hasOwn(ownKind, text);
}

type FoundName = readonly [kind: Kind, name: KnownName];

function namesOf(list: ListKey, row: JsonRecord): readonly FoundName[] {
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

function named(kind: Kind, value: string | undefined, description?: string): readonly FoundName[] {
  return value === undefined ? [] : [[kind, description === undefined ? { value } : { value, description }]];
}
