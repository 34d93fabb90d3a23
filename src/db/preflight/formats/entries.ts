import type { CheckFinding, FindingStatus } from '../finding.ts';
import type { PreflightReport } from '../report.ts';

/** A finding in all its databases. Checks that answer one question are one entry, with a part for the reason of each. */
export interface Entry {
  readonly ids: readonly string[];
  /** All findings of the entry have the status and the blocked methods of the first. */
  readonly first: CheckFinding;
  /** `fail`, `unknown, accepted`. */
  readonly status: string;
  readonly title: string;
  readonly databases: readonly string[];
  /** `shop`, `100 databases`; empty for a finding of the server. */
  readonly place: string;
  readonly parts: readonly Part[];
}

/** The findings of one check that have the same status and title. */
export interface Part {
  readonly first: CheckFinding;
  readonly findings: readonly CheckFinding[];
  readonly title: string;
  readonly databases: readonly string[];
  /** `by settings (setting-checks)`; undefined for the only part of an entry. */
  readonly reason?: string;
  readonly observations: readonly Observation[];
  readonly detail: SharedText | undefined;
  readonly fix: SharedText | undefined;
}

export interface Observation {
  readonly observed: string;
  readonly objects: readonly string[];
  readonly databases: readonly string[];
}

/** A text of the first finding, which is shown for all; `exampleOf` is its database if the others have other texts. */
export interface SharedText {
  readonly text: string;
  readonly exampleOf: string | undefined;
}

/** Groups findings of several databases, the most severe first. */
export function partsOf(findings: readonly CheckFinding[]): readonly Part[] {
  // The missing version of the target comes first, because only the user can give it.
  const rank = ({ id, status }: CheckFinding): number =>
    id === 'version-not-newer' && status === 'unknown' ? -1 : severity.indexOf(status);
  const sorted = findings.toSorted((a, b) => rank(a) - rank(b));
  return groupBy(sorted, (finding) => [finding.id, finding.status, isAccepted(finding), titleOf(finding)]).map(
    (group) => ({
      first: group[0],
      findings: group,
      title: titleOf(group[0]),
      databases: databasesOf(group),
      observations: groupBy(group, ({ observed, objects = [] }) => [observed, objects]).map((same) => ({
        observed: same[0].observed,
        objects: same[0].objects ?? [],
        databases: databasesOf(same),
      })),
      detail: sharedText(group, ({ detail }) => detail),
      fix: sharedText(group, ({ fix }) => fix?.text),
    }),
  );
}

const severity: readonly FindingStatus[] = ['fail', 'unknown', 'warn', 'info', 'skip', 'pass'];

/** What blocks the requested method; with --strict, warnings and open questions do if nothing else does. */
export function blockersOf<T extends Pick<Part, 'first'>>(
  { method, ok }: PreflightReport,
  all: readonly T[],
): readonly T[] {
  const open = all.filter(({ first }) => !isAccepted(first));
  const blockers = open.filter(({ first }) => first.status === 'fail' && first.blocks.includes(method));
  if (ok || blockers.length > 0) return blockers;
  return open.filter(({ first }) => first.status === 'warn' || first.status === 'unknown');
}

/** Whether the target evaluates expressions as the source did is one question; each of these checks has a reason for it. */
export const reasons: ReadonlyMap<string, string> = new Map([
  ['setting-checks', 'by settings'],
  ['session-checks', 'by session, role or server'],
  ['reading-checks', 'by rows that CHECK constraints read'],
  ['reading-functions', 'by rows that functions read'],
  ['function-results', 'by what functions return'],
  ['table-oids', 'by object ids'],
]);
export const sameEvaluation = 'the target evaluates expressions as the source did';
const otherEvaluation = 'The target evaluates expressions otherwise than the source did';

export function entriesOf(parts: readonly Part[]): readonly Entry[] {
  const keyOf = ({ first, title }: Part): unknown => {
    const { id, status, blocks } = first;
    const isReason = reasons.has(id) && isProblem(first);
    return isReason ? [status, isAccepted(first), blocks] : [id, status, isAccepted(first), title];
  };
  return groupBy(parts, keyOf).flatMap((group) => {
    const [{ first }] = group;
    if (group.every((part) => part.first.id === first.id))
      return group.map((part) => entryOf(first, part.title, [part]));
    return [
      entryOf(
        first,
        titleOfReasons(first.status),
        group.map((part) => ({ ...part, reason: reasonOf(part.first) })),
      ),
    ];
  });
}

function entryOf(first: CheckFinding, title: string, parts: readonly Part[]): Entry {
  const databases = [...new Set(parts.flatMap((part) => part.databases))];
  const ids = [...new Set(parts.map((part) => part.first.id))];
  const status = isAccepted(first) ? `${first.status}, accepted` : first.status;
  return { ids, first, status, title, databases, place: placeOf(databases), parts };
}

export function titleOfReasons(status: FindingStatus): string {
  return status === 'unknown' ? `It is not known whether ${sameEvaluation}` : otherEvaluation;
}

export function reasonOf({ id, accepted }: { readonly id: string; readonly accepted?: boolean }): string {
  return `${reasons.get(id)} (${id}${accepted === true ? ', accepted' : ''})`;
}

export function isProblem({ status }: CheckFinding): boolean {
  return status === 'fail' || status === 'unknown' || status === 'warn';
}

export function isAccepted({ accepted }: CheckFinding): boolean {
  return accepted === true;
}

export function databasesOf(findings: readonly CheckFinding[]): readonly string[] {
  return findings[0]?.only ?? findings.flatMap(({ database }) => database ?? []);
}

export function placeOf(databases: readonly string[]): string {
  return databases.length > 1 ? `${databases.length} databases` : (databases[0] ?? '');
}

function sharedText(
  group: NonEmpty<CheckFinding>,
  textOf: (finding: CheckFinding) => string | undefined,
): SharedText | undefined {
  const text = textOf(group[0]);
  if (text === undefined) return undefined;
  return { text, exampleOf: group.every((one) => textOf(one) === text) ? undefined : group[0].database };
}

/** Lists at most a given number of the names, and the number of the others. */
export function namesOf(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ');
}

/** The first of several results, each with its databases. */
export function resultsOf({ observations }: Part, whereRest = ''): readonly string[] {
  const rest = observations.length - 6;
  const shown = observations.slice(0, 6).map(({ observed, objects, databases }) => {
    const what = objects.length === 0 ? '' : ` (${namesOf(objects, 5)})`;
    return `${databases.length === 0 || observations.length === 1 ? 'Observed' : namesOf(databases, 3)}: ${observed}${what}`;
  });
  return rest > 0 ? [...shown, `and ${rest} other results${whereRest}`] : shown;
}

/** Omits the sentences that a report has shown already: findings about different settings can have the same ones. */
export type Fresh = (text: string) => string | undefined;

export function freshSentences(): Fresh {
  const seen = new Set<string>();
  return (text) => {
    const fresh = text.split(/(?<=\.) (?=[A-Z])/).filter((sentence) => {
      const key = sentence.replace(/\.$/, '');
      return !seen.has(key) && seen.add(key);
    });
    return fresh.length === 0 ? undefined : fresh.join(' ');
  };
}

/** The new sentences of a text, and of which database they are an example; undefined if no sentence is new. */
export function freshText(one: SharedText | undefined, fresh: Fresh): string | undefined {
  const text = one === undefined ? undefined : fresh(one.text);
  if (text === undefined || one?.exampleOf === undefined) return text;
  return `For example in ${one.exampleOf}: ${text}`;
}

/** The headline of a finding when its check does not pass, and the title when the check passes. */
export function titleOf({ status, title, headline, premise = title }: CheckFinding): string {
  if (status === 'unknown') return `It is not known whether ${premise}`;
  return status === 'pass' || status === 'skip' ? capitalized(title) : headline;
}

/** A clause as a sentence; the name of a setting or a file at its beginning keeps its spelling. */
export function capitalized(text: string): string {
  return /^[a-z]+[_.]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a finding is about: `database shop`, `server`. */
export function locationOf({ database, only }: CheckFinding): string {
  if (database !== undefined) return `database ${database}`;
  return only === undefined ? 'server' : `server, for ${only.join(', ')}`;
}

export type NonEmpty<T> = readonly [T, ...T[]];

export function groupBy<T>(all: readonly T[], keyOf: (one: T) => unknown): readonly NonEmpty<T>[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const one of all) {
    const key = JSON.stringify(keyOf(one));
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [one]);
    else known.push(one);
  }
  return [...groups.values()];
}
