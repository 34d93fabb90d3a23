import type { PreflightFindingStatus } from '../preflight/finding.ts';
import type { PreflightVerdict } from '../preflight/report.ts';
import type { CondensedFinding, CondensedFix, InventorySourceOutcome } from './inventory-source-outcome.ts';
import { orderSourceInventoryFixes, type SourceInventoryFixStep } from './order-source-inventory-fixes.ts';

/** The report of an inventory (schema_version 1): printed as JSON, and rendered in every other format. */
export interface SourceInventoryReport {
  readonly schema_version: 1;
  readonly kind: 'inventory';
  /** ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
  readonly summary: SourceInventorySummary;
  readonly fix_first: readonly SourceInventoryFixStep[];
  readonly servers: readonly SourceInventoryServer[];
  readonly findings: readonly SourceInventoryFinding[];
  readonly sources: readonly SourceInventoryReportRow[];
}

export interface SourceInventorySummary {
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

export interface SourceInventoryServer {
  /** The first address under which the server was reached. */
  readonly server: string;
  readonly version?: string;
  /** Number of sources on the server. */
  readonly sources: number;
  /** Other addresses under which the server was reached. */
  readonly also?: readonly string[];
}

/** The findings of one check and status over all sources. */
export interface SourceInventoryFinding {
  readonly id: string;
  readonly status: PreflightFindingStatus;
  readonly scope: 'server' | 'database';
  readonly title: string;
  readonly is_blocker: boolean;
  readonly sources: number;
  readonly servers: number;
  /** One place for each server; findings about databases have one place for each server and list of databases. */
  readonly places: readonly SourceInventoryFindingPlace[];
  /** Number of all places; the list `places` has at most 100. */
  readonly place_count: number;
  readonly fix?: CondensedFix;
  /** The server whose fix is shown; absent if the fix is the same on all servers. */
  readonly fix_example_of?: string;
}

export interface SourceInventoryFindingPlace {
  readonly server: string;
  readonly databases?: readonly string[];
  readonly observed: string;
}

export interface SourceInventoryReportRow extends Omit<InventorySourceOutcome, 'findings' | 'server' | 'line'> {
  readonly line: number;
  /** The address of the server of the source, as in the list `servers`. */
  readonly server?: string;
}

/** Collects outcomes one by one. A finding about a server is kept only once, even if several sources are on this server. */
export interface SourceInventoryReportBuilder {
  readonly add: (outcome: InventorySourceOutcome) => void;
  readonly finish: (startedAt: number, endedAt: number) => SourceInventoryReport;
}

interface FindingGroup {
  readonly first: CondensedFinding;
  readonly places: Map<string, SourceInventoryFindingPlace>;
  readonly servers: Set<string>;
  isBlocker: boolean;
  /** The server of the first finding. */
  readonly server: string;
  /** Whether the finding has a different fix on another server. */
  hasOtherFixes: boolean;
  sources: number;
  /** Keys of all places where the finding was made. */
  readonly seen: Set<string>;
}

export function createSourceInventoryReportBuilder(): SourceInventoryReportBuilder {
  const rows: SourceInventoryReportRow[] = [];
  const groups = new Map<string, FindingGroup>();
  const servers = new Map<string, ReachedServer>();
  const addServer = ({ server, server_version: version, url, line }: InventorySourceOutcome): string => {
    const label = addressOf(url);
    const id = server ?? label;
    const known = servers.get(id) ?? { label, line, version, sources: 0, labels: new Set<string>() };
    servers.set(id, known);
    known.sources += 1;
    if (known.labels.size < shownLabels) known.labels.add(label);
    // Use the label of the first line of the inventory, because outcomes arrive in any order.
    if (line < known.line) Object.assign(known, { label, line });
    return id;
  };
  return {
    add(outcome) {
      const { findings, server: _server, ...row } = outcome;
      if (outcome.state === 'not_checked') {
        rows.push(row);
        return;
      }
      const server = addServer(outcome);
      rows.push({ ...row, server });
      for (const finding of findings) addFinding(groups, finding, server);
    },
    finish: (startedAt, endedAt) => {
      const labelOf = (id: string) => servers.get(id)?.label ?? id;
      const sources = rows
        .toSorted((a, b) => a.line - b.line)
        .map((row) => (row.server === undefined ? row : { ...row, server: labelOf(row.server) }));
      const checked = sources.filter(({ state }) => state === 'checked');
      const possible = checked.filter(({ ok }) => ok);
      const blocked = checked.flatMap(({ ok, server = '', blocked_by: blockedBy }) =>
        ok ? [] : [{ server, blockedBy }],
      );
      return {
        schema_version: 1,
        kind: 'inventory',
        started_at: new Date(startedAt).toISOString(),
        duration_ms: Math.max(0, Math.round(endedAt - startedAt)),
        summary: summarize(sources, servers.size),
        fix_first: orderSourceInventoryFixes(blocked, possible.length),
        servers: byLine([...servers.values()]).map(({ label, version, sources, labels }) => {
          const also = [...labels].filter((other) => other !== label);
          return {
            server: label,
            ...(version === undefined ? {} : { version }),
            sources,
            ...(also.length === 0 ? {} : { also }),
          };
        }),
        findings: sortFindings([...groups.values()].map((group) => toFinding(group, labelOf))),
        sources,
      };
    },
  };
}

const shownLabels = 20;
const shownPlaces = 100;

interface ReachedServer {
  label: string;
  /** The first line of the inventory whose source is on this server. */
  line: number;
  readonly version: string | undefined;
  sources: number;
  readonly labels: Set<string>;
}

function byLine(servers: readonly ReachedServer[]): readonly ReachedServer[] {
  return servers.toSorted((a, b) => a.line - b.line);
}

function addFinding(groups: Map<string, FindingGroup>, finding: CondensedFinding, server: string): void {
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
): SourceInventoryFinding {
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

/** Sorts blocking findings first; findings of the same rank are sorted by their number of sources, largest first. */
function sortFindings(all: readonly SourceInventoryFinding[]): readonly SourceInventoryFinding[] {
  const rank = ({ is_blocker: isBlocker, status }: SourceInventoryFinding) =>
    isBlocker ? 0 : 1 + ['fail', 'unknown', 'warn'].indexOf(status);
  return all.toSorted((a, b) => rank(a) - rank(b) || b.sources - a.sources);
}

function summarize(rows: readonly SourceInventoryReportRow[], servers: number): SourceInventorySummary {
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
