import { groupByKey } from './group-by-key.ts';

/**
 * A set of fixes that makes the migration of some sources possible; for none of these sources is a part of the set
 * sufficient.
 */
export interface SourceInventoryFixStep {
  /** Ids of the checks whose findings are fixed. */
  readonly ids: readonly string[];
  /** Number of sources whose requested method becomes possible with this step and the steps before it. */
  readonly unblocks: number;
  /** Number of all sources whose requested method is possible after this step. */
  readonly possible_after: number;
  /** Number of databases in which something must be fixed; 0 if the fixes concern only the servers. */
  readonly databases: number;
  /** The servers of the sources that become possible, those with the most sources first. */
  readonly servers: readonly { readonly server: string; readonly sources: number }[];
}

/** The properties of a checked source that determine the order of the fixes. */
export interface SourceWithBlockers {
  /** The name of the server in messages: the address under which the inventory lists it. */
  readonly server: string;
  readonly blockedBy: readonly string[];
  /** The databases that the blockers concern: sources with the same key share them, `count` at once. */
  readonly databases: readonly { readonly id: string; readonly key: string; readonly count: number }[];
}

/**
 * The order in which fixes make the most sources possible. Each step is the set of fixes that unblocks the most sources for each
 * fix. A step assumes that each fix succeeds.
 * @param possible the number of sources that are possible without a fix
 * @param maxSteps steps after which the order ends
 */
export function orderSourceInventoryFixes(
  blocked: readonly SourceWithBlockers[],
  possible: number,
  maxSteps = 30,
): readonly SourceInventoryFixStep[] {
  let groups = groupByBlockers(blocked.filter(({ blockedBy }) => blockedBy.length > 0));
  const steps: SourceInventoryFixStep[] = [];
  for (let total = possible; groups.length > 0 && steps.length < maxSteps; ) {
    const ids = selectBestSet(groups);
    const sources = groups.filter((group) => group.ids.every((id) => ids.includes(id))).flatMap((one) => one.sources);
    total += sources.length;
    const servers = [...groupByKey(sources, ({ server }) => server)];
    steps.push({
      ids,
      unblocks: sources.length,
      possible_after: total,
      databases: countDatabases(sources, ids),
      servers: servers
        .map(([server, all]) => ({ server, sources: all.length }))
        .sort((a, b) => b.sources - a.sources || compare(a.server, b.server)),
    });
    groups = groupByBlockers(
      groups.flatMap((group) =>
        group.sources.map((one) => ({ ...one, blockedBy: group.ids.filter((id) => !ids.includes(id)) })),
      ),
    );
  }
  return steps;
}

interface BlockedGroup {
  readonly ids: readonly string[];
  readonly sources: readonly SourceWithBlockers[];
}

function groupByBlockers(blocked: readonly SourceWithBlockers[]): readonly BlockedGroup[] {
  const open = blocked.filter(({ blockedBy }) => blockedBy.length > 0);
  return [...groupByKey(open, ({ blockedBy }) => [...blockedBy].sort().join())].map(([key, sources]) => ({
    ids: key.split(','),
    sources,
  }));
}

/**
 * Selects the set of fixes that unblocks the most sources for each fix. Of sets with the same rate it selects the one that
 * unblocks more sources, then the smaller set, then the first by name, so that the order is the same in every run.
 */
function selectBestSet(groups: readonly BlockedGroup[]): readonly string[] {
  const rated = groups.map(({ ids }) => {
    const own = new Set(ids);
    let unblocked = 0;
    for (const group of groups) if (group.ids.every((id) => own.has(id))) unblocked += group.sources.length;
    return { ids, unblocked, rate: unblocked / ids.length };
  });
  rated.sort(
    (a, b) =>
      b.rate - a.rate ||
      b.unblocked - a.unblocked ||
      a.ids.length - b.ids.length ||
      compare(a.ids.join(), b.ids.join()),
  );
  return rated[0]?.ids ?? [];
}

function countDatabases(sources: readonly SourceWithBlockers[], ids: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const { databases } of sources)
    for (const { id, key, count } of databases) if (ids.includes(id)) counts.set(key, count);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
