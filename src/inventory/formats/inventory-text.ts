import type { MigrationMethod } from '../../preflight/finding.ts';
import { groupByKey } from '../group-by-key.ts';
import type { SourceInventoryFixStep } from '../order-source-inventory-fixes.ts';
import type {
  SourceInventoryFinding,
  SourceInventoryFindingPlace,
  SourceInventoryReport,
  SourceInventoryReportRow,
} from '../source-inventory-report.ts';

/** The migration method that all sources have in common; undefined if the sources have different methods. */
export function commonSourceInventoryMethod({ sources }: SourceInventoryReport): MigrationMethod | undefined {
  const methods = new Set(sources.map(({ method }) => method));
  return methods.size === 1 ? [...methods][0] : undefined;
}

/** Formats a number with its noun: `1 source`, `12 sources`, `1,000 sources`. */
export function countedNoun(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** What "possible" means in this inventory: `continuous migration`, or `requested migration` if sources have several methods. */
export function sourceInventoryMethodText(report: SourceInventoryReport): string {
  return `${commonSourceInventoryMethod(report) ?? 'requested'} migration`;
}

/** The result of the inventory in one sentence. */
export function sourceInventoryVerdictSentence(report: SourceInventoryReport): string {
  const { sources, possible, not_checked: unchecked } = report.summary;
  const method = sourceInventoryMethodText(report);
  const rest = unchecked === 0 ? '' : ` ${countedNoun(unchecked, 'source')} could not be checked.`;
  if (possible === sources) return `The ${method} is possible for all ${countedNoun(sources, 'source')}.`;
  return `The ${method} is possible for ${formatCount(possible)} of ${countedNoun(sources, 'source')}.${rest}`;
}

/** The summary line: the number of sources by result, and the number of servers. */
export function sourceInventorySummaryText({ summary }: SourceInventoryReport): string {
  const { possible, unproven, not_possible: blocked, not_checked: unchecked, servers } = summary;
  const open = unproven === 0 ? '' : ` (${formatCount(unproven)} with open premises)`;
  return [
    `${formatCount(possible)} possible${open}`,
    `${formatCount(blocked)} not possible`,
    `${formatCount(unchecked)} not checked`,
    countedNoun(servers, 'server'),
  ].join(' · ');
}

/** The fixes of one step. */
export interface InventoryStepFix {
  readonly id: string;
  readonly title: string;
  /** The first sentence of the fix; the finding has the complete text. */
  readonly text: string | undefined;
  readonly restart: boolean;
}

/** The findings that a step fixes. */
export function listInventoryStepFixes(
  { findings }: SourceInventoryReport,
  { ids }: SourceInventoryFixStep,
): readonly InventoryStepFix[] {
  return ids.map((id): InventoryStepFix => {
    const found = findings.find((finding) => finding.id === id && finding.is_blocker);
    return {
      id,
      title: found?.title ?? id,
      // A fix text that was only an example is omitted, because its values may be wrong for another server.
      text: found?.fix_example_of === undefined ? found?.fix?.text.split(/(?<=\.) (?=[A-Z])/)[0] : undefined,
      restart: found?.fix?.restart === true,
    };
  });
}

/** Formats what a step achieves: `12 sources become continuous (740 of 1,000 in all)`. */
export function formatFixStepGain(
  report: SourceInventoryReport,
  { unblocks, possible_after: after }: SourceInventoryFixStep,
): string {
  const verb = unblocks === 1 ? 'becomes' : 'become';
  const method = commonSourceInventoryMethod(report) ?? 'possible';
  return `${countedNoun(unblocks, 'source')} ${verb} ${method} (${formatCount(after)} of ${formatCount(report.summary.sources)} in all)`;
}

/** The servers of a step, those with the most sources first. */
export function formatFixStepServers({ servers }: SourceInventoryFixStep, most: number): string {
  const named = servers.slice(0, most).map(({ server, sources }) => `${server} (${countedNoun(sources, 'source')})`);
  const rest = servers.length - named.length;
  return rest > 0 ? `${named.join(', ')} and ${countedNoun(rest, 'more server')}` : named.join(', ');
}

/** Formats the number of sources and servers that a finding is about: `12 sources on 3 servers`. */
export function formatAffectedSourcesAndServers({ sources, servers }: SourceInventoryFinding): string {
  return `${countedNoun(sources, 'source')} on ${countedNoun(servers, 'server')}`;
}

/** Formats the server, the databases and the observed value of a finding: `db.example.com:5432, shop, billing: 2 tables`. */
export function formatInventoryFindingPlace(
  { server, databases = [], observed }: SourceInventoryFindingPlace,
  most: number,
): string {
  const shown = databases.slice(0, most);
  const rest = databases.length - shown.length;
  const names = rest > 0 ? [...shown, `and ${rest} more`] : shown;
  return `${[server, ...names].join(', ')}: ${observed}`;
}

/** The sources that could not be checked, by reason, the most frequent reason first. */
export function groupUncheckedSourcesByReason({ sources }: SourceInventoryReport): readonly {
  readonly reason: string;
  readonly names: readonly string[];
}[] {
  const unchecked = sources.filter(({ state }) => state === 'not_checked');
  return [...groupByKey(unchecked, ({ reason = '' }) => reason)]
    .map(([reason, rows]) => ({ reason, names: rows.map(({ name }) => name) }))
    .sort((a, b) => b.names.length - a.names.length);
}

export function rowVerdictText({ state, verdict, proven, ok }: SourceInventoryReportRow): string {
  if (state === 'not_checked') return 'not checked';
  return ok && !proven ? `${verdict}, not proven` : (verdict ?? 'blocked');
}
