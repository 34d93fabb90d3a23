import type { FindingStatus, PreflightVerdict } from '../preflight/index.ts';
import type { Fix, Outcome, SourceFinding } from './outcome.ts';

/** The report of an inventory: printed as JSON, and rendered in every other format. Its JSON Schema is schemas/inventory-report-1.json. */
export interface InventoryReport {
  readonly schema_version: 1;
  readonly kind: 'inventory';
  /** ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
  readonly summary: Summary;
  readonly fix_first: readonly FixStep[];
  readonly servers: readonly ReportedServer[];
  readonly findings: readonly ReportFinding[];
  readonly sources: readonly ReportRow[];
}

export interface Summary {
  readonly sources: number;
  readonly servers: number;
  /** Number of sources whose requested method is possible. */
  readonly possible: number;
  readonly not_possible: number;
  readonly not_checked: number;
  /** Number of sources that are possible but have an open premise. */
  readonly unproven: number;
  readonly verdicts: Readonly<Partial<Record<PreflightVerdict, number>>>;
  readonly queries: number;
}

export interface ReportedServer {
  /** The first address under which the server was reached. */
  readonly server: string;
  readonly version?: string;
  /** Number of sources on the server. */
  readonly sources: number;
  /** Other addresses under which the server was reached. */
  readonly also?: readonly string[];
}

export interface ReportRow extends Omit<Outcome, 'findings' | 'server' | 'line'> {
  readonly line: number;
  /** The address of the server of the source, as in the list `servers`. */
  readonly server?: string;
}

/** Collects outcomes one by one. A finding about a server is kept only once, even if several sources are on this server. */
export function createReportBuilder() {
  const rows: ReportRow[] = [];
  const groups = createFindingCollector();
  const blocked: BlockedSource[] = [];
  const servers = new Map<string, ReachedServer>();
  const notEntered: Outcome[] = [];
  const loginSteps: BlockedSource[] = [];
  const ids = new Map<string, string>();
  const addServer = ({ server, server_version: version, url, line }: Outcome): string => {
    const label = addressOf(url);
    const id = server ?? ids.get(label) ?? label;
    if (server !== undefined) ids.set(label, server);
    const known = servers.get(id) ?? { label, line, version, sources: 0, labels: new Set<string>() };
    servers.set(id, known);
    known.sources += 1;
    if (known.labels.size < shownLabels) known.labels.add(label);
    // Use the label of the first line of the inventory, because outcomes arrive in any order.
    if (line < known.line) Object.assign(known, { label, line });
    return id;
  };
  const addChecked = (outcome: Outcome, blockers: BlockedSource[]): void => {
    const { findings, server: _server, ...row } = outcome;
    const server = addServer(outcome);
    rows.push({ ...row, server });
    for (const finding of findings) groups.add(finding, server);
    if (!outcome.ok)
      blockers.push({ server, blockedBy: outcome.blocked_by, databases: blockedDatabases(findings, server) });
  };
  return {
    add(outcome: Outcome): void {
      const { findings: _findings, server, ...row } = outcome;
      if (outcome.state === 'not_checked') rows.push(row);
      // Only a login tells which server it is: the sources that logged in at the same address do.
      else if (server === undefined) notEntered.push(outcome);
      else addChecked(outcome, blocked);
    },
    finish(startedAt: number, endedAt: number): InventoryReport {
      for (const outcome of notEntered.splice(0)) addChecked(outcome, loginSteps);
      const labelOf = (id: string) => servers.get(id)?.label ?? id;
      const sources = rows
        .toSorted((a, b) => a.line - b.line)
        .map((row) => (row.server === undefined ? row : { ...row, server: labelOf(row.server) }));
      const checked = sources.filter(({ state }) => state === 'checked');
      const possible = checked.filter(({ ok }) => ok);
      const labelled = (all: readonly BlockedSource[]) => all.map((one) => ({ ...one, server: labelOf(one.server) }));
      return {
        schema_version: 1,
        kind: 'inventory',
        started_at: new Date(startedAt).toISOString(),
        duration_ms: Math.max(0, Math.round(endedAt - startedAt)),
        summary: summarize(sources, servers.size),
        fix_first: fixesInOrder(labelled(blocked), labelled(loginSteps), possible.length),
        servers: byLine([...servers.values()]).map(({ label, version, sources, labels }) => {
          const also = [...labels].filter((other) => other !== label);
          return {
            server: label,
            ...(version === undefined ? {} : { version }),
            sources,
            ...(also.length === 0 ? {} : { also }),
          };
        }),
        findings: groups.finish(labelOf),
        sources,
      };
    },
  };
}

const shownLabels = 20;

interface ReachedServer {
  label: string;
  /** The first line of the inventory whose source is on this server. */
  line: number;
  readonly version: string | undefined;
  sources: number;
  readonly labels: Set<string>;
}

/** The databases that the blockers of a source concern. */
function blockedDatabases(findings: readonly SourceFinding[], server: string): BlockedSource['databases'] {
  const blockers = findings.filter(({ is_blocker: isBlocker }) => isBlocker);
  return blockers.flatMap(({ id, databases, database_count: count }) => {
    const unnamed = count - databases.length;
    const rest = unnamed > 0 ? [{ id, key: JSON.stringify([server, 'and', ...databases]), count: unnamed }] : [];
    return [...databases.map((name) => ({ id, key: JSON.stringify([server, name]), count: 1 })), ...rest];
  });
}

function byLine(servers: readonly ReachedServer[]): readonly ReachedServer[] {
  return servers.toSorted((a, b) => a.line - b.line);
}

function summarize(rows: readonly ReportRow[], servers: number): Summary {
  const checked = rows.filter(({ state }) => state === 'checked');
  const possible = checked.filter(({ ok }) => ok);
  const verdicts: Partial<Record<PreflightVerdict, number>> = {};
  for (const { verdict } of checked) if (verdict !== undefined) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  return {
    sources: rows.length,
    servers,
    possible: possible.length,
    not_possible: checked.length - possible.length,
    not_checked: rows.length - checked.length,
    unproven: possible.filter(({ proven }) => !proven).length,
    verdicts,
    queries: rows.reduce((total, { queries }) => total + queries, 0),
  };
}

/** Host and port of a URL: `db.example.com:5432`. */
function addressOf(url: string): string {
  return /^[a-z]+:\/\/(?:[^@/]*@)?([^/]+)/.exec(url)?.[1] ?? url;
}

/** The findings of one check and status over all sources. */
export interface ReportFinding {
  readonly id: string;
  readonly status: FindingStatus;
  readonly scope: 'server' | 'database';
  readonly title: string;
  readonly is_blocker: boolean;
  readonly sources: number;
  readonly servers: number;
  /** One for each server, and for findings of databases also for each list of databases. */
  readonly places: readonly Place[];
  /** All places; `places` has at most 100. */
  readonly place_count: number;
  readonly fix?: Fix;
  /** The server whose fix is shown, set if other places have another fix. */
  readonly fix_example_of?: string;
}

export interface Place {
  readonly server: string;
  readonly databases?: readonly string[];
  readonly observed: string;
}

/** Keeps findings once for each server and list of databases, however many sources have them. */
function createFindingCollector() {
  const groups = new Map<string, FindingGroup>();
  return {
    /** @param server identifies the server */
    add: (finding: SourceFinding, server: string) => addFinding(groups, finding, server),
    /** Blockers first; within them, those of the most sources first. */
    finish: (labelOf: (server: string) => string): readonly ReportFinding[] =>
      sortFindings([...groups.values()].map((group) => toFinding(group, labelOf))),
  };
}

const shownPlaces = 100;

interface FindingGroup {
  readonly first: SourceFinding;
  readonly places: Map<string, Place>;
  readonly servers: Set<string>;
  isBlocker: boolean;
  /** The server of `first`, and whether other places have another fix. */
  readonly server: string;
  hasOtherFixes: boolean;
  sources: number;
  /** Keys of all places. */
  readonly seen: Set<string>;
}

function addFinding(groups: Map<string, FindingGroup>, finding: SourceFinding, server: string): void {
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
): ReportFinding {
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

function placeKey({ server, databases = [] }: Place): string {
  return JSON.stringify([server, databases]);
}

function sortFindings(all: readonly ReportFinding[]): readonly ReportFinding[] {
  const rank = ({ is_blocker: isBlocker, status }: ReportFinding) =>
    isBlocker ? 0 : 1 + ['fail', 'unknown', 'warn'].indexOf(status);
  return all.toSorted((a, b) => rank(a) - rank(b) || b.sources - a.sources);
}

/**
 * A set of fixes that makes the migration of some sources possible; for none of these sources is a part of the set
 * sufficient.
 */
export interface FixStep {
  /** Ids of the checks whose findings are fixed. */
  readonly ids: readonly string[];
  /**
   * Number of sources whose requested method becomes possible with this step and the steps before it; 0 if the step lets
   * sources be checked whose login failed.
   */
  readonly unblocks: number;
  /** Number of all sources whose requested method is possible after this step. */
  readonly possible_after: number;
  /** Number of databases in which something must be fixed; 0 if the fixes concern only the servers. */
  readonly databases: number;
  /** The servers of the sources that become possible, or can be checked, those with the most sources first. */
  readonly servers: readonly { readonly server: string; readonly sources: number }[];
}

/** The properties of a checked source that determine the order of the fixes. */
export interface BlockedSource {
  /** The name of the server in messages: the address under which the inventory lists it. */
  readonly server: string;
  readonly blockedBy: readonly string[];
  /** The databases that the blockers concern: sources with the same key share them, `count` at once. */
  readonly databases: readonly { readonly id: string; readonly key: string; readonly count: number }[];
}

/**
 * The order of all fixes: first those that make sources possible, then those of failed logins, after which nothing else was
 * checked, so that nothing is known of what becomes possible.
 */
function fixesInOrder(
  blocked: readonly BlockedSource[],
  notEntered: readonly BlockedSource[],
  possible: number,
): readonly FixStep[] {
  const steps = orderFixes(blocked, possible);
  const total = steps.at(-1)?.possible_after ?? possible;
  const logins = orderFixes(notEntered, 0).map((step) => ({ ...step, unblocks: 0, possible_after: total }));
  return [...steps, ...logins];
}

/**
 * The order in which fixes make the most sources possible. Each step is the set of fixes that unblocks the most sources for each
 * fix. A step assumes that each fix succeeds.
 * @param possible the number of sources that are possible without a fix
 * @param maxSteps steps after which the order ends
 */
export function orderFixes(blocked: readonly BlockedSource[], possible: number, maxSteps = 30): readonly FixStep[] {
  let groups = groupByBlockers(blocked.filter(({ blockedBy }) => blockedBy.length > 0));
  const steps: FixStep[] = [];
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
  readonly sources: readonly BlockedSource[];
}

function groupByBlockers(blocked: readonly BlockedSource[]): readonly BlockedGroup[] {
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

function countDatabases(sources: readonly BlockedSource[], ids: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const { databases } of sources)
    for (const { id, key, count } of databases) if (ids.includes(id)) counts.set(key, count);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Groups items in the order in which their keys first occur. */
export function groupByKey<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [item]);
    else known.push(item);
  }
  return groups;
}
