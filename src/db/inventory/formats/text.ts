import { countOf, formatCount } from '../../../base/text.ts';
import { groupBy, reasonOf, reasons, titleOfReasons } from '../../preflight/formats/index.ts';
import type { MigrationMethod } from '../../preflight/index.ts';
import {
  type FixStep,
  groupByKey,
  type InventoryReport,
  type Place,
  type ReportFinding,
  type ReportRow,
} from '../report.ts';

/** The migration method that all sources have in common; undefined if the sources have different methods. */
export function commonMethod({ sources }: InventoryReport): MigrationMethod | undefined {
  const methods = new Set(sources.map(({ method }) => method));
  return methods.size === 1 ? [...methods][0] : undefined;
}

/** What "possible" means in this inventory: `continuous migration`, or `requested migration` if sources have several methods. */
export function methodText(report: InventoryReport): string {
  return `${commonMethod(report) ?? 'requested'} migration`;
}

/** The result of the inventory in one sentence. */
export function resultSentence(report: InventoryReport): string {
  const { sources, possible, not_checked: unchecked } = report.summary;
  const method = methodText(report);
  const rest = unchecked === 0 ? '' : ` ${countOf(unchecked, 'source')} could not be checked.`;
  if (possible === sources) return `The ${method} is possible for all ${countOf(sources, 'source')}.`;
  return `The ${method} is possible for ${formatCount(possible)} of ${countOf(sources, 'source')}.${rest}`;
}

/** The summary line: the number of sources by result, and the number of servers. */
export function summaryText({ summary, sources }: InventoryReport): string {
  const { possible, unproven, not_possible: blocked, not_checked: unchecked, servers } = summary;
  const open = unproven === 0 ? '' : ` (${formatCount(unproven)} with open premises)`;
  return [
    `${formatCount(possible)} possible${open}`,
    `${formatCount(blocked)} not possible${otherMethodsText(sources)}`,
    `${formatCount(unchecked)} not checked`,
    countOf(servers, 'server'),
  ].join(' · ');
}

/** What is possible instead: ` (140 by dump, 3 by no method)`. */
function otherMethodsText(sources: readonly ReportRow[]): string {
  const blocked = sources.filter(({ state, ok }) => state === 'checked' && !ok);
  const counts = [...groupByKey(blocked, ({ verdict = 'blocked' }) => verdict)].map(
    ([verdict, rows]) => `${formatCount(rows.length)} by ${verdict === 'blocked' ? 'no method' : verdict}`,
  );
  return counts.length === 0 ? '' : ` (${counts.join(', ')})`;
}

/** The fixes of one step. */
export interface FixedFinding {
  readonly id: string;
  readonly title: string;
  /** The first sentence of the fix; undefined if it differs between servers. */
  readonly text: string | undefined;
  readonly restart: boolean;
}

/** The findings that a step fixes. */
export function fixedBy({ findings }: InventoryReport, { ids }: FixStep): readonly FixedFinding[] {
  return ids.map((id): FixedFinding => {
    const found = findings.find((finding) => finding.id === id && finding.is_blocker);
    return {
      id,
      title: found?.title ?? id,
      text: found === undefined ? undefined : firstFixSentence(found),
      restart: found?.fix?.restart === true,
    };
  });
}

/** The first sentence of the fix; undefined if the fix is only an example, whose values may be wrong for another server. */
export function firstFixSentence({ fix, fix_example_of: example }: ReportFinding): string | undefined {
  return example === undefined ? fix?.text.split(/(?<=\.) (?=[A-Z])/)[0] : undefined;
}

/** Formats what a step achieves: `12 sources become continuous (740 of 1,000 in all)`, or `2 sources can be checked`. */
export function gainText(report: InventoryReport, { unblocks, possible_after: after, servers }: FixStep): string {
  if (unblocks === 0)
    return `${countOf(
      servers.reduce((sum, { sources }) => sum + sources, 0),
      'source',
    )} can be checked`;
  const method = commonMethod(report) ?? 'possible';
  return `${countOf(unblocks, 'source becomes', 'sources become')} ${method} (${formatCount(after)} of ${formatCount(report.summary.sources)} in all)`;
}

/** Where a step fixes something: `20 databases on 4 servers: db1.example.com:5432 (80 sources), db2.example.com:5432 (1) and 2 more`. */
export function stepPlacesText({ servers, databases }: FixStep, most: number): string {
  const [{ server: name, sources: count } = { server: '', sources: 0 }] = servers;
  const where = databases === 0 ? '' : `${countOf(databases, 'database')} on `;
  if (servers.length === 1) return `${where}${name} (${countOf(count, 'source')})`;
  const named = servers
    .slice(0, most)
    .map(({ server, sources }, at) => `${server} (${at === 0 ? countOf(sources, 'source') : formatCount(sources)})`);
  const rest = servers.length - named.length;
  const list = rest > 0 ? `${named.join(', ')} and ${formatCount(rest)} more` : named.join(', ');
  return `${where}${countOf(servers.length, 'server')}: ${list}`;
}

/** Findings that answer one question, as the report of one source prints them; each with its reason, if there are several. */
export interface PrintedFinding {
  readonly title: string;
  readonly first: ReportFinding;
  readonly parts: readonly { readonly finding: ReportFinding; readonly reason: string | undefined }[];
}

export function printedFindings({ findings }: InventoryReport): readonly PrintedFinding[] {
  return groupBy(findings, ({ id, status, is_blocker: isBlocker, title }) =>
    reasons.has(id) ? [status, isBlocker] : [id, status, isBlocker, title],
  ).map((group) => {
    const [first] = group;
    const isOne = group.every(({ id }) => id === first.id);
    return {
      title: isOne ? first.title : titleOfReasons(first.status),
      first,
      parts: group.map((finding) => ({ finding, reason: isOne ? undefined : reasonOf(finding) })),
    };
  });
}

/** Formats the number of sources and servers that a finding is about: `12 sources on 3 servers`. */
export function extentText({ sources, servers }: ReportFinding): string {
  return `${countOf(sources, 'source')} on ${countOf(servers, 'server')}`;
}

/** Formats the server, the databases and the observed value of a finding: `db.example.com:5432, shop, billing: 2 tables`. */
export function placeText({ server, databases = [], observed }: Place, most: number): string {
  const shown = databases.slice(0, most);
  const rest = databases.length - shown.length;
  const names = rest > 0 ? [...shown, `and ${rest} more`] : shown;
  return `${[server, ...names].join(', ')}: ${observed}`;
}

/** The sources that could not be checked, by reason, the most frequent reason first. */
export function uncheckedReasons({ sources }: InventoryReport): readonly {
  readonly reason: string;
  readonly names: readonly string[];
}[] {
  const unchecked = sources.filter(({ state }) => state === 'not_checked');
  return [...groupByKey(unchecked, ({ reason = '' }) => reason)]
    .map(([reason, rows]) => ({ reason, names: rows.map(({ name }) => name) }))
    .sort((a, b) => b.names.length - a.names.length);
}

/** The same in one line, without names: `8 no response to the connection · 3 connection refused`. */
export function uncheckedText(report: InventoryReport, most: number): string {
  const short = uncheckedReasons(report).map(({ reason, names }) => ({
    reason: (reason.split(/[:,]/)[0] ?? '').slice(0, 60),
    count: names.length,
  }));
  const totals = [...groupByKey(short, ({ reason }) => reason)]
    .map(([reason, all]) => ({ reason, count: all.reduce((sum, { count }) => sum + count, 0) }))
    .sort((a, b) => b.count - a.count);
  const shown = totals.slice(0, most).map(({ reason, count }) => `${formatCount(count)} ${reason}`);
  const rest = totals.slice(most).reduce((sum, { count }) => sum + count, 0);
  return [...shown, ...(rest > 0 ? [`${formatCount(rest)} for other reasons`] : [])].join(' · ');
}

export function verdictText({ state, verdict, proven, ok }: ReportRow): string {
  if (state === 'not_checked') return 'not checked';
  return ok && !proven ? `${verdict}, not proven` : (verdict ?? 'blocked');
}
