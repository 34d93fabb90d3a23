import type { PreflightVerdict } from '../preflight/report.ts';
import { createInventoryFindingCollector, type SourceInventoryFindingGroup } from './inventory-findings.ts';
import type { InventoryFindingGroup, InventorySourceOutcome } from './inventory-source-outcome.ts';
import {
  orderSourceInventoryFixes,
  type SourceInventoryFixStep,
  type SourceWithBlockers,
} from './order-source-inventory-fixes.ts';

/** The report of an inventory: printed as JSON, and rendered in every other format. Its JSON Schema is schemas/inventory-report-1.json. */
export interface SourceInventoryReport {
  readonly schema_version: 1;
  readonly kind: 'inventory';
  /** ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
  readonly summary: SourceInventorySummary;
  readonly fix_first: readonly SourceInventoryFixStep[];
  readonly servers: readonly ReportedInventoryServer[];
  readonly findings: readonly SourceInventoryFindingGroup[];
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

export interface ReportedInventoryServer {
  /** The first address under which the server was reached. */
  readonly server: string;
  readonly version?: string;
  /** Number of sources on the server. */
  readonly sources: number;
  /** Other addresses under which the server was reached. */
  readonly also?: readonly string[];
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

export function createSourceInventoryReportBuilder(): SourceInventoryReportBuilder {
  const rows: SourceInventoryReportRow[] = [];
  const groups = createInventoryFindingCollector();
  const blocked: SourceWithBlockers[] = [];
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
      for (const finding of findings) groups.add(finding, server);
      if (!outcome.ok)
        blocked.push({ server, blockedBy: outcome.blocked_by, databases: blockedDatabases(findings, server) });
    },
    finish: (startedAt, endedAt) => {
      const labelOf = (id: string) => servers.get(id)?.label ?? id;
      const sources = rows
        .toSorted((a, b) => a.line - b.line)
        .map((row) => (row.server === undefined ? row : { ...row, server: labelOf(row.server) }));
      const checked = sources.filter(({ state }) => state === 'checked');
      const possible = checked.filter(({ ok }) => ok);
      const labelled = blocked.map((one): SourceWithBlockers => ({ ...one, server: labelOf(one.server) }));
      return {
        schema_version: 1,
        kind: 'inventory',
        started_at: new Date(startedAt).toISOString(),
        duration_ms: Math.max(0, Math.round(endedAt - startedAt)),
        summary: summarize(sources, servers.size),
        fix_first: orderSourceInventoryFixes(labelled, possible.length),
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
function blockedDatabases(findings: readonly InventoryFindingGroup[], server: string): SourceWithBlockers['databases'] {
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
