import type { PreflightFindingStatus } from '../preflight/finding.ts';
import type { InventoryFindingGroup, InventoryFindingGroupFix } from './inventory-source-outcome.ts';

/** The findings of one check and status over all sources. */
export interface SourceInventoryFindingGroup {
  readonly id: string;
  readonly status: PreflightFindingStatus;
  readonly scope: 'server' | 'database';
  readonly title: string;
  readonly is_blocker: boolean;
  readonly sources: number;
  readonly servers: number;
  /** One for each server, and for findings of databases also for each list of databases. */
  readonly places: readonly SourceInventoryFindingPlace[];
  /** All places; `places` has at most 100. */
  readonly place_count: number;
  readonly fix?: InventoryFindingGroupFix;
  /** The server whose fix is shown, set if other places have another fix. */
  readonly fix_example_of?: string;
}

export interface SourceInventoryFindingPlace {
  readonly server: string;
  readonly databases?: readonly string[];
  readonly observed: string;
}

/** Findings are kept once for each server and list of databases, however many sources have them. */
export interface InventoryFindingCollector {
  /** @param server identifies the server */
  readonly add: (finding: InventoryFindingGroup, server: string) => void;
  /** Blockers first; within them, those of the most sources first. */
  readonly finish: (labelOf: (server: string) => string) => readonly SourceInventoryFindingGroup[];
}

export function createInventoryFindingCollector(): InventoryFindingCollector {
  const groups = new Map<string, FindingGroup>();
  return {
    add: (finding, server) => addFinding(groups, finding, server),
    finish: (labelOf) => sortFindings([...groups.values()].map((group) => toFinding(group, labelOf))),
  };
}

const shownPlaces = 100;

interface FindingGroup {
  readonly first: InventoryFindingGroup;
  readonly places: Map<string, SourceInventoryFindingPlace>;
  readonly servers: Set<string>;
  isBlocker: boolean;
  /** The server of `first`, and whether other places have another fix. */
  readonly server: string;
  hasOtherFixes: boolean;
  sources: number;
  /** Keys of all places. */
  readonly seen: Set<string>;
}

function addFinding(groups: Map<string, FindingGroup>, finding: InventoryFindingGroup, server: string): void {
  const key = JSON.stringify([finding.id, finding.status, finding.accepted === true, finding.title]);
  const group = groups.get(key) ?? {
    first: finding,
    places: new Map(),
    servers: new Set(),
    isBlocker: false,
    server,
    hasOtherFixes: false,
    sources: 0,
    seen: new Set<string>(),
  };
  groups.set(key, group);
  group.isBlocker ||= finding.is_blocker;
  group.hasOtherFixes ||= JSON.stringify(finding.fix) !== JSON.stringify(group.first.fix);
  group.sources += 1;
  group.servers.add(server);
  const { databases, database_count: count } = finding;
  const isDatabase = finding.scope === 'database' || databases.length > 0;
  const place = isDatabase ? JSON.stringify([server, databases, count]) : server;
  if (group.seen.has(place)) return;
  group.seen.add(place);
  if (group.places.size >= shownPlaces) return;
  const named = count > databases.length ? [...databases, `and ${count - databases.length} more`] : databases;
  group.places.set(place, { server, ...(isDatabase ? { databases: named } : {}), observed: finding.observed });
}

function toFinding(
  { first, places, servers, isBlocker, sources, seen, server, hasOtherFixes }: FindingGroup,
  labelOf: (server: string) => string,
): SourceInventoryFindingGroup {
  return {
    id: first.id,
    status: first.status,
    scope: first.scope,
    title: first.title,
    is_blocker: isBlocker,
    sources,
    servers: servers.size,
    places: [...places.values()]
      .map((place) => ({ ...place, server: labelOf(place.server) }))
      .sort((a, b) => (placeKey(a) < placeKey(b) ? -1 : 1)),
    place_count: seen.size,
    ...(first.fix === undefined ? {} : { fix: first.fix }),
    ...(hasOtherFixes ? { fix_example_of: labelOf(server) } : {}),
  };
}

function placeKey({ server, databases = [] }: SourceInventoryFindingPlace): string {
  return JSON.stringify([server, databases]);
}

function sortFindings(all: readonly SourceInventoryFindingGroup[]): readonly SourceInventoryFindingGroup[] {
  const rank = ({ is_blocker: isBlocker, status }: SourceInventoryFindingGroup) =>
    isBlocker ? 0 : 1 + ['fail', 'unknown', 'warn'].indexOf(status);
  return all.toSorted((a, b) => rank(a) - rank(b) || b.sources - a.sources);
}
