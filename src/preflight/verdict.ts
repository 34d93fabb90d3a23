import type { Finding, Method, Status } from './finding.ts';
import type { DatabaseVerdict, Report, Verdict } from './report.ts';

export interface Weighing {
  readonly findings: readonly Finding[];
  /** Those that are to be migrated; empty: the findings are about the whole. */
  readonly databases: readonly string[];
  /** Of this engine, best first. */
  readonly methods: readonly Method[];
  /** The method asked for. */
  readonly method: Method;
  /** Ids that are waived. */
  readonly accept: readonly string[];
  readonly strict: boolean;
  /** The methods a check can block: an `unknown` of one that only warns leaves the verdict proven. */
  readonly mayBlock: (id: string) => readonly Method[];
  /** Checks that miss a fact only the person can tell, which leaves the verdict proven too. */
  readonly untold: readonly string[];
}

export type Conclusion = Pick<
  Report,
  'verdict' | 'methods' | 'ok' | 'proven' | 'data_loss' | 'summary' | 'findings' | 'databases'
>;

/** The verdict over all findings (preflight.md): best method open, per database and for all of them together. */
export function conclude(weighing: Weighing): Conclusion {
  const { databases, methods, method, strict, accept } = weighing;
  const findings = weighing.findings.map((finding) => waived(finding, accept));
  const blockers = findings.filter(({ status, accepted }) => status === 'fail' && accepted !== true);
  const open = (candidates: readonly Finding[]) =>
    methods.filter((one) => !candidates.some(({ blocks }) => blocks.includes(one)));
  const opened = open(blockers);
  const verdict = opened[0] ?? 'blocked';
  const proven = !findings.some((finding) => leavesDoubt(finding, verdict, weighing));
  const warned = findings.some(({ status, accepted }) => status === 'warn' && accepted !== true);
  return {
    verdict,
    methods: Object.fromEntries(methods.map((one) => [one, opened.includes(one)])),
    ok: opened.includes(method) && !(strict && (warned || !proven)),
    proven,
    data_loss: findings.flatMap(({ dataLoss, database }) =>
      dataLoss === undefined ? [] : [database === undefined ? dataLoss : `${database}: ${dataLoss}`],
    ),
    summary: summarize(findings),
    findings,
    databases: databases.map((name): DatabaseVerdict => {
      const own = blockers.filter((finding) => concerns(finding, name));
      const reasons = own.filter(({ blocks }) => blocks.length > 0).map(({ id }) => id);
      return { name, verdict: open(own)[0] ?? 'blocked', reasons };
    }),
  };
}

/** Whether a finding says something about this database. */
export function concerns({ database, only }: Finding, name: string): boolean {
  return database === undefined ? only === undefined || only.includes(name) : database === name;
}

function waived(finding: Finding, accept: readonly string[]): Finding {
  const waivable = finding.status === 'fail' || finding.status === 'warn';
  return waivable && accept.includes(finding.id) ? { ...finding, accepted: true } : finding;
}

function leavesDoubt({ status, id }: Finding, verdict: Verdict, { mayBlock, untold }: Weighing): boolean {
  if (status !== 'unknown' || verdict === 'blocked' || untold.includes(id)) return false;
  return mayBlock(id).includes(verdict);
}

function summarize(findings: readonly Finding[]): Readonly<Record<Status, number>> {
  const summary = { pass: 0, fail: 0, warn: 0, skip: 0, unknown: 0, info: 0 };
  for (const { status } of findings) summary[status] += 1;
  return summary;
}
