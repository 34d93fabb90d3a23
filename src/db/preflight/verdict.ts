import { countOf } from '../../base/text.ts';
import type { CheckFinding, FindingStatus, MigrationMethod } from './finding.ts';
import type {
  DatabaseVerdict,
  PreflightReport,
  PreflightVerdict,
  VerdictAfterFixes,
  VerdictCondition,
} from './report.ts';

export interface ConclusionInput {
  readonly findings: readonly CheckFinding[];
  /** The databases to migrate; empty if they are not known. */
  readonly databases: readonly string[];
  /** The migration methods of the engine, best first. */
  readonly methods: readonly MigrationMethod[];
  /** The requested method. */
  readonly method: MigrationMethod;
  /** Ids of the findings that `--accept` waives. */
  readonly accept: readonly string[];
  readonly strict: boolean;
  /**
   * The migration methods that a check can block. A check that can block none has no influence on whether the verdict
   * is proven.
   */
  readonly mayBlock: (id: string) => readonly MigrationMethod[];
}

export type PreflightConclusion = Pick<
  PreflightReport,
  'verdict' | 'methods' | 'ok' | 'proven' | 'premises' | 'data_loss' | 'summary' | 'findings' | 'databases'
>;

/** Derives the verdict from all findings: the best method that no finding blocks, for each database and for all together. */
export function deriveConclusion(weighing: ConclusionInput): PreflightConclusion {
  const { databases, methods, method, strict, accept } = weighing;
  const findings = weighing.findings.map((finding) => markAccepted(finding, accept));
  const blockers = findings.filter(({ status, accepted }) => status === 'fail' && accepted !== true);
  const open = (candidates: readonly CheckFinding[]) =>
    methods.filter((one) => !candidates.some(({ blocks }) => blocks.includes(one)));
  const opened = open(blockers);
  const verdict = opened[0] ?? 'blocked';
  const premises = premisesOf(findings.filter((finding) => leavesVerdictUnproven(finding, opened, weighing)));
  const proven = premises.length === 0;
  const warned = findings.some(({ status, accepted }) => status === 'warn' && accepted !== true);
  const isOpen = premises.some(({ accepted }) => accepted !== true);
  // A server can have thousands of databases, and one finding may concern all of them.
  const placed = blockers.map((finding) => ({ finding, concerns: databaseFilter(finding) }));
  return {
    verdict,
    methods: Object.fromEntries(methods.map((one) => [one, opened.includes(one)])),
    ok: opened.includes(method) && !(strict && (warned || isOpen)),
    proven,
    premises,
    data_loss: findings.flatMap(({ dataLoss, database }) =>
      dataLoss === undefined ? [] : [database === undefined ? dataLoss : `${database}: ${dataLoss}`],
    ),
    summary: summarize(findings),
    findings,
    databases: databases.map((name): DatabaseVerdict => {
      const own = placed.filter(({ concerns }) => concerns(name)).map(({ finding }) => finding);
      const reasons = own.filter(({ blocks }) => blocks.length > 0).map(({ id }) => id);
      return { name, verdict: open(own)[0] ?? 'blocked', reasons };
    }),
  };
}

/** The verdict after a run of the fix script. Findings whose fix was not simulated count as not fixed. */
export function verdictAfterFixes(
  { verdict, ok, proven, findings }: PreflightConclusion,
  notSimulated: readonly string[],
): VerdictAfterFixes {
  const blockers = findings.filter(
    ({ status, blocks, accepted }) => status === 'fail' && blocks.length > 0 && accepted !== true,
  );
  return { verdict, ok, proven, reasons: [...new Set(blockers.map(({ id }) => id))], not_simulated: notSimulated };
}

/** Whether a finding of the server or of a database concerns a database. */
export function concernsDatabase(finding: CheckFinding, name: string): boolean {
  return databaseFilter(finding)(name);
}

function databaseFilter({ database, only }: CheckFinding): (name: string) => boolean {
  if (database !== undefined) return (name) => name === database;
  const names = only === undefined ? undefined : new Set(only);
  return (name) => names === undefined || names.has(name);
}

function markAccepted(finding: CheckFinding, accept: readonly string[]): CheckFinding {
  const waivable = ['fail', 'warn', 'unknown'].includes(finding.status);
  return waivable && accept.includes(finding.id) ? { ...finding, accepted: true } : finding;
}

/** A rehearsal copies the rows to another server, so it shows what no query of the source can show. */
const rehearsal = 'cloudctl db rehearse';

/**
 * Returns one condition of the verdict for each check, whatever the number of databases in which the check has a
 * finding.
 */
function premisesOf(findings: readonly CheckFinding[]): readonly VerdictCondition[] {
  const ids = [...new Set(findings.map(({ id }) => id))];
  return ids.flatMap((id): VerdictCondition[] => {
    const own = findings.filter((finding) => finding.id === id);
    const [first] = own;
    if (first === undefined) return [];
    const databases = own.flatMap(({ database }) => database ?? []);
    const clauses = new Set(own.map(({ premise = first.title }) => premise));
    const settledBy = new Set(own.map(({ settledBy: by = rehearsal }) => by));
    return [
      {
        id,
        condition: clauses.size === 1 ? [...clauses].join() : first.title,
        ...(databases.length === 0 ? {} : { databases }),
        ...(first.fix === undefined ? {} : { settle: first.fix.text }),
        settled_by: [...settledBy].join('; '),
        ...(first.accepted === true ? { accepted: true } : {}),
      },
    ];
  });
}

/** An unknown finding leaves both open: the best method that is possible, and the requested one. */
function leavesVerdictUnproven(
  { status, id }: CheckFinding,
  opened: readonly MigrationMethod[],
  { mayBlock, method }: ConclusionInput,
): boolean {
  return status === 'unknown' && opened.some((one, at) => (at === 0 || one === method) && mayBlock(id).includes(one));
}

function summarize(findings: readonly CheckFinding[]): Readonly<Record<FindingStatus, number>> {
  const summary = { pass: 0, fail: 0, warn: 0, skip: 0, unknown: 0, info: 0 };
  for (const { status } of findings) summary[status] += 1;
  return summary;
}

/**
 * The sentence that states the verdict, or that the requested method is possible, and the conditions under which it is
 * correct: at most two of them, and the number of the others.
 */
export function verdictSentence(
  { verdict, method, methods, engine }: Pick<PreflightReport, 'verdict' | 'method' | 'methods' | 'engine'>,
  conditions: readonly string[],
): string {
  const isChosen = method !== 'continuous' && verdict === 'continuous' && methods[method] === true;
  const rule = ruleOf(isChosen ? method : verdict, engine);
  const [possible, runs] = isChosen
    ? [
        `The point-in-time ${method} is possible, and so is the continuous migration`,
        `The point-in-time ${method} will run`,
      ]
    : sentences[verdict];
  if (conditions.length === 0) return `${possible}.${rule}`;
  const others = conditions.length - 2;
  const more = others > 0 ? [countOf(others, 'more premise holds', 'more premises hold')] : [];
  return `${runs} if ${[...conditions.slice(0, 2), ...more].join(', and if ')}. This is not proven.${rule}`;
}

/** What nobody may do on the source until the end. */
function ruleOf(way: PreflightVerdict, engine: PreflightReport['engine']): string {
  if (way === 'dump' || way === 'scan') return ' No application may write to the source until the copy ends.';
  if (way !== 'continuous' || engine === 'redis') return '';
  return ' No DDL on the source during the migration: it is not replicated.';
}

/** Without and with open premises. */
const sentences: Readonly<Record<PreflightVerdict, readonly [string, string]>> = {
  continuous: ['The continuous migration is possible', 'The continuous migration will run'],
  dump: ['Only a point-in-time dump is possible', 'Only a point-in-time dump will run,'],
  scan: ['Only a point-in-time scan is possible', 'Only a point-in-time scan will run,'],
  blocked: ['No migration is possible', 'No migration is possible'],
};

/**
 * The verdict after the fix script as one sentence, for example `Verdict after the fix script: dump (tablespaces). Not
 * simulated: …`; undefined if there is no script.
 */
export function sentenceAfterFixes({ verdict_after_fixes: after }: PreflightReport): string | undefined {
  if (after === undefined) return undefined;
  const { verdict, proven, reasons, not_simulated: rest } = after;
  const because = reasons.length === 0 ? '' : `, because of ${reasons.join(', ')}`;
  return [
    `Verdict after the fix script: ${verdict}${because}${proven ? '' : ' (not proven)'}.`,
    ...(rest.length === 0
      ? []
      : [`Findings that count as not fixed, because their fixes were not simulated: ${rest.join(', ')}.`]),
  ].join(' ');
}
