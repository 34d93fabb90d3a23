import type { CheckFinding } from '../finding.ts';
import type { PreflightReport, PreflightVerdictCondition } from '../report.ts';
import { findingTitle, sortFindingsBySeverity } from './report-text.ts';

/** The findings of one check that have the same status, from all databases. */
export interface PreflightFindingGroup {
  /** The first finding; all findings of the group have its check, status, title and blocked methods. */
  readonly first: CheckFinding;
  readonly findings: readonly CheckFinding[];
  readonly title: string;
  /** The databases in which the findings were made; empty for a finding of the server. */
  readonly databases: readonly string[];
  readonly observations: readonly FindingGroupObservation[];
  readonly detail: PreflightFindingGroupText | undefined;
  readonly fixText: PreflightFindingGroupText | undefined;
}

/** An observed value, with the databases in which it was observed. */
export interface FindingGroupObservation {
  readonly observed: string;
  readonly objects: readonly string[];
  readonly databases: readonly string[];
}

/** A text (such as the fix) of the first finding of a group, which the report shows for the whole group. */
export interface PreflightFindingGroupText {
  readonly text: string;
  /** The database of the first finding; undefined if all findings of the group have the same text. */
  readonly exampleOf: string | undefined;
}

/** Groups findings of several databases, and sorts the groups by severity. */
export function groupFindings(findings: readonly CheckFinding[]): readonly PreflightFindingGroup[] {
  const all = sortFindingsBySeverity(findings);
  return groupBy(all, (finding) => [finding.id, finding.status, finding.accepted === true, findingTitle(finding)]).map(
    (group): PreflightFindingGroup => ({
      first: group[0],
      findings: group,
      title: findingTitle(group[0]),
      databases: databasesOf(group),
      observations: groupBy(group, ({ observed, objects }) => [observed, objects ?? []]).map((same) => ({
        observed: same[0].observed,
        objects: same[0].objects ?? [],
        databases: databasesOf(same),
      })),
      detail: sharedText(group, ({ detail }) => detail),
      fixText: sharedText(group, ({ fix }) => fix?.text),
    }),
  );
}

/** The groups of findings that block the requested migration method. */
export function selectBlockingFindingGroups(
  { method, ok }: PreflightReport,
  groups: readonly PreflightFindingGroup[],
): readonly PreflightFindingGroup[] {
  const open = groups.filter(({ first }) => first.accepted !== true);
  const blockers = open.filter(({ first }) => first.status === 'fail' && first.blocks.includes(method));
  if (ok || blockers.length > 0) return blockers;
  // With --strict, warnings and unknown findings block the migration as well.
  return open.filter(({ first }) => first.status === 'warn' || first.status === 'unknown');
}

/** The groups of findings that are a problem, or may be one. */
export function selectProblemGroups(groups: readonly PreflightFindingGroup[]): readonly PreflightFindingGroup[] {
  return groups.filter(({ first }) => !['pass', 'skip', 'info'].includes(first.status));
}

/**
 * Whether a row gets on the target what it had on the source is one question, which these checks answer for one reason
 * each.
 */
const reasonsOfOtherValues: ReadonlyMap<string, string> = new Map([
  ['setting-checks', 'by settings'],
  ['session-checks', 'by session, role or server'],
  ['reading-checks', 'by rows that are copied later'],
  ['reading-functions', 'by rows that functions read'],
  ['function-results', 'by what functions return'],
  ['table-oids', 'by object ids'],
]);

/** A premise with the option that settles it, and the objects that it is about. */
interface PremiseRow {
  readonly premise: string;
  readonly objects: readonly string[];
}

/** The premises of a report; those about values that the target evaluates again are one, with the objects by reason. */
export function formatPremiseRows(
  { premises }: PreflightReport,
  groups: readonly PreflightFindingGroup[],
): readonly PremiseRow[] {
  const [evaluated, others] = [true, false].map((is) =>
    premises.filter(({ id }) => reasonsOfOtherValues.has(id) === is),
  );
  const rowOf = ({ id, condition, databases = [], settled_by: settledBy, accepted }: PreflightVerdictCondition) => {
    const where = databases.length === 0 ? '' : ` in ${describeFindingDatabases(databases)}`;
    return `${condition}${where} (${id}${accepted === true ? ', accepted' : ''}): ${settledBy}`;
  };
  const rows = (others ?? []).map((one) => ({ premise: rowOf(one), objects: [] }));
  const [only, ...more] = evaluated ?? [];
  if (only === undefined) return rows;
  const settledBy = [...new Set([only, ...more].map((one) => one.settled_by))].join('; ');
  const premise = more.length === 0 ? rowOf(only) : `the target evaluates expressions as the source did: ${settledBy}`;
  return [...rows, { premise, objects: [only, ...more].flatMap((one) => objectsOfReason(one, groups)) }];
}

/** The objects that a check names for its premise, after the reason why the target may evaluate them otherwise. */
function objectsOfReason(
  { id, accepted }: PreflightVerdictCondition,
  groups: readonly PreflightFindingGroup[],
): readonly string[] {
  const own = groups.filter(({ first }) => first.id === id && first.status === 'unknown');
  const objects = own.flatMap(({ observations }) => observations.flatMap((one) => one.objects));
  if (objects.length === 0) return [];
  const reason = `${reasonsOfOtherValues.get(id)} (${id}${accepted === true ? ', accepted' : ''})`;
  return [`${reason}: ${formatNameList(objects, 2)}`];
}

/** The data that is not migrated: one line for each check. */
export function describeDataLoss(groups: readonly PreflightFindingGroup[]): readonly string[] {
  return groups.flatMap(({ first, findings }) => {
    const lost = findings.filter(({ dataLoss }) => dataLoss !== undefined);
    const texts = [...new Set(lost.map(({ dataLoss }) => dataLoss))];
    const [one] = lost;
    if (one?.dataLoss === undefined) return [];
    const databases = databasesOf(lost);
    const [name] = databases;
    if (name === undefined) return [`${one.dataLoss} (${first.id})`];
    const where = databases.length === 1 ? name : `each of ${databases.length} databases`;
    const text =
      texts.length === 1
        ? `${one.dataLoss} in ${where}`
        : `${one.dataLoss} in ${name}, and more in ${databases.length - 1} other databases`;
    return [`${text} (${first.id})`];
  });
}

/** The database of a finding (`shop`) or the number of databases (`100 databases`); empty for a finding about the server. */
export function describeFindingDatabases(names: readonly string[]): string {
  return names.length > 1 ? `${names.length} databases` : (names[0] ?? '');
}

/** Lists at most a given number of the names, and the number of the others. */
export function formatNameList(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ');
}

/** Removes the sentences that the report has shown already; undefined if none is left. */
export type RepeatedSentenceFilter = (text: string) => string | undefined;

/** Creates a filter that omits repeated sentences: findings about different settings can contain the same sentence. */
export function createRepeatedSentenceFilter(): RepeatedSentenceFilter {
  const seen = new Set<string>();
  return (text) => {
    const fresh = text.split(/(?<=\.) (?=[A-Z])/).filter((sentence) => {
      const key = sentence.replace(/\.$/, '');
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
    return fresh.length === 0 ? undefined : fresh.join(' ');
  };
}

/** The new sentences of a text, and of which database they are an example; undefined if no sentence is new. */
export function formatNewGroupText(
  one: PreflightFindingGroupText | undefined,
  isNew: RepeatedSentenceFilter,
): string | undefined {
  const text = one === undefined ? undefined : isNew(one.text);
  if (text === undefined) return undefined;
  return one?.exampleOf === undefined ? text : `For example in ${one.exampleOf}: ${text}`;
}

type NonEmpty<T> = readonly [T, ...T[]];

function groupBy<T>(all: readonly T[], keyOf: (one: T) => unknown): readonly NonEmpty<T>[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const one of all) {
    const key = JSON.stringify(keyOf(one));
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [one]);
    else known.push(one);
  }
  return [...groups.values()];
}

function databasesOf(findings: readonly CheckFinding[]): readonly string[] {
  const [first] = findings;
  return first?.only ?? findings.flatMap(({ database }) => database ?? []);
}

function sharedText(
  group: NonEmpty<CheckFinding>,
  textOf: (finding: CheckFinding) => string | undefined,
): PreflightFindingGroupText | undefined {
  const text = textOf(group[0]);
  if (text === undefined) return undefined;
  const isShared = group.every((finding) => textOf(finding) === text);
  return { text, exampleOf: isShared ? undefined : group[0].database };
}
