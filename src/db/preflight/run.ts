import { CliError } from '../../base/errors.ts';
import type { Clock } from '../../platform/host.ts';
import { timeoutSignal } from '../../platform/waiting.ts';
import type { CheckDescription } from './check.ts';
import {
  type ChangedFindings,
  type CheckFinding,
  type DatabaseEffect,
  type FindingFix,
  type FindingStatus,
  type FixEffect,
  type FixProblem,
  findingKey,
  type MigrationMethod,
  type SimulatedFix,
} from './finding.ts';
import { isInScript, isOptionalFix } from './fix-script.ts';
import { type PreflightOptions, rejectUnknownIds, type WordFinder } from './options.ts';
import type { DatabaseVerdict, IgnoreAdvice, PreflightReport } from './report.ts';
import { deriveConclusion, type PreflightConclusion, verdictAfterFixes } from './verdict.ts';

/** The input of a preflight of either engine. */
export interface PreflightInput<Source> {
  readonly source: Source;
  readonly options: PreflightOptions;
  /** Time limit of the preflight in milliseconds, without reading rows (default: 60 s). */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
  readonly clock: Clock;
  /** Finds the closest known word to a misspelt database or check id. */
  readonly nearest: WordFinder;
  /** Called with the number of databases or steps done, and the total number. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Receives the progress while rows are read (`--deep`). */
  readonly onRead?: (progress: DeepProgress) => void;
  /** Called with every statement just before it is sent; `place` is the name of the database, or `server`. */
  readonly onQuery?: (place: string, text: string) => void;
}

/** The progress of reading the rows (`--deep`). */
export interface DeepProgress {
  readonly bytes: number;
  readonly database: string;
  readonly table: string;
  /** The position of the table in its database, beginning with 1. */
  readonly position: number;
  readonly tables: number;
}

/** The input of an engine: the preflight input with one deadline and one counter of statements. */
export interface PreflightRun<Source> {
  readonly source: Source;
  readonly options: PreflightOptions;
  /** This signal is aborted at the deadline, and when the user cancels. */
  readonly signal: AbortSignal;
  /**
   * This signal is aborted when the user cancels, but not at the deadline, because reading rows may take longer than
   * the deadline.
   */
  readonly cancelled: AbortSignal | undefined;
  readonly clock: Clock;
  readonly nearest: WordFinder;
  readonly onProgress: (done: number, total: number) => void;
  readonly onRead: (progress: DeepProgress) => void;
  /** Called just before a statement is sent; `statements` is the number of statements in the text (default: 1). */
  readonly onSend: (place: string, text: string, statements?: number) => void;
}

/** The facts that an engine has after it has queried the source. */
export interface CollectedFacts {
  /** Milliseconds spent waiting between two measurements, which are not part of the reported duration. */
  readonly waited: number;
}

/** The findings of all checks of an engine. */
export interface EvaluatedChecks {
  /** One finding for each check, or for each check and database, in the order of the checks. */
  readonly findings: readonly CheckFinding[];
  /** Names of the databases to be migrated. */
  readonly databases: readonly string[];
}

/** The parts of the report that differ between PostgreSQL and Redis, so that the engine provides them. */
export interface EngineReport<Extra> {
  readonly source: PreflightReport['source'];
  /** The verdict of each database, with its size, tables or keys as far as they are known. */
  readonly databases: readonly DatabaseVerdict[];
  /** Estimated seconds of the copy; undefined if there is nothing to copy, or if the amount is not known. */
  readonly estimate: { readonly low: number; readonly high: number } | undefined;
  /** Further fields of the report for one engine. */
  readonly extra: Extra;
}

/** The operations in which PostgreSQL and Redis differ. */
export interface PreflightEngine<Source, Opened, Facts extends CollectedFacts, Extra = object> {
  readonly name: PreflightReport['engine'];
  /** The migration methods of this engine, best first. */
  readonly methods: readonly MigrationMethod[];
  readonly checks: readonly CheckDescription[];
  /**
   * Looks up the host of the source, connects and logs in. A failed connection is part of the result and does not
   * throw.
   */
  readonly open: (run: PreflightRun<Source>) => Promise<Opened>;
  /** Runs the queries of the checks, and takes measurements. Ends the session. */
  readonly collectFacts: (opened: Opened, run: PreflightRun<Source>) => Promise<Facts>;
  /** Evaluates every check as if the databases in `ignored` were ignored as well. */
  readonly evaluate: (facts: Facts, options: PreflightOptions, ignored: readonly string[]) => EvaluatedChecks;
  /** Evaluates the checks as if the given fixes had been applied. */
  readonly effectsEvaluator: (
    facts: Facts,
    options: PreflightOptions,
  ) => (effects: readonly DatabaseEffect[]) => ChangedFindings;
  /**
   * Finds the databases that must be ignored so that a migration method becomes possible. `conclude` returns the
   * verdict for the databases that are not ignored.
   */
  readonly advise?: (
    facts: Facts,
    conclusion: PreflightConclusion,
    conclude: (ignored: readonly string[]) => PreflightConclusion,
    method: MigrationMethod,
  ) => IgnoreAdvice | undefined;
  readonly describe: (facts: Facts, conclusion: PreflightConclusion, run: PreflightRun<Source>) => EngineReport<Extra>;
}

/**
 * Runs every check on a source and returns the report. Problems of the source are findings in the report and do not
 * throw.
 * @throws CliError `usage` for unknown ids in `--accept` or unknown databases, `cancelled` when the signal aborts
 */
export async function runPreflight<Source, Opened, Facts extends CollectedFacts, Extra>(
  engine: PreflightEngine<Source, Opened, Facts, Extra>,
  {
    source,
    options,
    deadline = 60_000,
    signal: cancelled,
    clock,
    nearest,
    onProgress,
    onRead,
    onQuery,
  }: PreflightInput<Source>,
): Promise<PreflightReport & Extra> {
  const startedAt = clock.now();
  const ids = engine.checks.map(({ id }) => id);
  rejectUnknownIds(options.accept, ids, nearest);
  const expired = timeoutSignal(deadline);
  let sent = 0;
  const run: PreflightRun<Source> = {
    source,
    options,
    signal: cancelled === undefined ? expired : AbortSignal.any([expired, cancelled]),
    cancelled,
    clock,
    nearest,
    onProgress: onProgress ?? (() => {}),
    onRead: onRead ?? (() => {}),
    onSend(place, text, statements = 1) {
      sent += statements;
      onQuery?.(place, text);
    },
  };
  const facts = await engine.collectFacts(await engine.open(run), run);
  if (cancelled?.aborted === true) throw new CliError('cancelled', 'the preflight was cancelled');
  const conclude = (ignored: readonly string[]) =>
    concludeFindings(engine, engine.evaluate(facts, options, ignored), options);
  const conclusion = conclude([]);
  const isPossible = conclusion.methods[options.method] === true;
  const advice = isPossible ? undefined : engine.advise?.(facts, conclusion, conclude, options.method);
  const { source: described, databases, estimate, extra } = engine.describe(facts, conclusion, run);
  const { findings, after, notSimulated } = simulateFixes(
    conclusion.findings,
    options.method,
    engine.effectsEvaluator(facts, options),
  );
  const names = conclusion.databases.map(({ name }) => name);
  const concluded = (one: readonly CheckFinding[]) =>
    concludeFindings(engine, { findings: one, databases: names }, options);
  return {
    schema_version: 1,
    engine: engine.name,
    ...conclusion,
    findings,
    ...(after === undefined ? {} : { verdict_after_fixes: verdictAfterFixes(concluded(after), notSimulated) }),
    method: options.method,
    source: described,
    target: options.targetVersion === undefined ? {} : { version: options.targetVersion },
    databases,
    ...(estimate === undefined
      ? {}
      : { estimate: { seconds_low: Math.ceil(estimate.low), seconds_high: Math.ceil(estimate.high) } }),
    ...(advice === undefined ? {} : { advice }),
    ...extra,
    queries: sent,
    started_at: new Date(startedAt).toISOString(),
    duration_ms: Math.max(0, Math.round(clock.now() - startedAt - facts.waited)),
  };
}

function concludeFindings<Source, Opened, Facts extends CollectedFacts, Extra>(
  { checks, methods }: PreflightEngine<Source, Opened, Facts, Extra>,
  evaluated: EvaluatedChecks,
  options: PreflightOptions,
): PreflightConclusion {
  const blockable = new Map(checks.map(({ id, mayBlock }) => [id, mayBlock]));
  return deriveConclusion({
    ...evaluated,
    methods,
    method: options.method,
    accept: options.accept,
    strict: options.strict,
    mayBlock: (id) => blockable.get(id) ?? [],
  });
}

/**
 * Removes one of every two fixes that set the same setting to different values. The fix that corrects both findings
 * is kept, or else the first fix.
 */
function removeConflictingFixes(
  fixes: readonly SimulatedFix[],
  isOptional: (fix: SimulatedFix) => boolean,
  evaluate: (effects: readonly DatabaseEffect[]) => ChangedFindings,
  harms: Map<CheckFinding, FixProblem>,
): readonly SimulatedFix[] {
  const kept = new Set<SimulatedFix>();
  const byName = new Map<string, { readonly fix: SimulatedFix; readonly value: string }>();
  const keep = (fix: SimulatedFix) => {
    kept.add(fix);
    for (const { name, value } of valuesSetBy(fix)) byName.set(name, { fix, value });
  };
  for (const fix of fixes) {
    const other = valuesSetBy(fix)
      .map(({ name, value }) => ({ value, known: byName.get(name) }))
      .find(({ value, known }) => known !== undefined && kept.has(known.fix) && isConflict(value, known.value))
      ?.known?.fix;
    if (other === undefined) {
      keep(fix);
      continue;
    }
    const corrects = (one: SimulatedFix, { finding }: SimulatedFix) =>
      evaluate(one.effects).changed.get(findingKey(finding))?.status === 'pass';
    const isCorrected = corrects(other, fix);
    if (!isCorrected && isOptional(fix) === isOptional(other) && corrects(fix, other)) {
      kept.delete(other);
      keep(fix);
      harms.set(other.finding, { kind: 'conflict', with: fix.finding.id, isCorrected: true });
    } else harms.set(fix.finding, { kind: 'conflict', with: other.finding.id, isCorrected });
  }
  return [...kept];
}

/** The settings that a fix sets; a setting of a role is named with its role and database. */
function valuesSetBy({ effects }: SimulatedFix): readonly { readonly name: string; readonly value: string }[] {
  return effects.flatMap(({ effect }) => {
    if (effect.kind === 'setting') return [{ name: effect.name, value: effect.value }];
    if (effect.kind !== 'role-setting') return [];
    return [{ name: JSON.stringify([effect.role, effect.database, effect.name]), value: effect.value }];
  });
}

/**
 * If two fixes set a setting to different numbers, they do not conflict, because the fix script sets the larger number
 * (fix-script.ts).
 */
function isConflict(one: string, other: string): boolean {
  return one !== other && !(/^\d+$/.test(one) && /^\d+$/.test(other));
}

interface FixSimulation {
  /**
   * The findings without the field `effects`, which only the simulation uses, and without the statements of fixes that
   * would make another finding worse.
   */
  readonly findings: readonly CheckFinding[];
  /** The findings after a run of the fix script without its optional part; undefined if the script runs nothing. */
  readonly after: readonly CheckFinding[] | undefined;
  /** Ids of the findings whose fixes are not optional and were not simulated. */
  readonly notSimulated: readonly string[];
}

/**
 * Evaluates the checks with the effects of each fix alone, then with the effects of all fixes together. `evaluate` is
 * pure: it returns what the checks find with these effects instead of the observed values.
 */
export function simulateFixes(
  findings: readonly CheckFinding[],
  method: MigrationMethod,
  evaluate: (effects: readonly DatabaseEffect[]) => ChangedFindings,
): FixSimulation {
  const observed = new Map(findings.map((finding) => [findingKey(finding), finding]));
  const written = findings.filter(isInScript);
  const harms = new Map<CheckFinding, FixProblem>();
  const candidates = firstOfEachFix(written);
  const expected = new Map(observed);
  for (const { finding, effects } of candidates) {
    const alone = evaluate(effects);
    const found = worsened(observed, alone, finding);
    if (found.length > 0) harms.set(finding, { kind: 'worse', findings: found });
    else expected.set(findingKey(finding), alone.changed.get(findingKey(finding)) ?? finding);
  }
  const isOptional = ({ finding }: SimulatedFix) => isOptionalFix(finding, method);
  const harmless = candidates.filter(({ finding }) => !harms.has(finding));
  // Fixes that the script runs take precedence over fixes that it contains as comments.
  const ordered = harmless.toSorted((a, b) => Number(isOptional(a)) - Number(isOptional(b)));
  const offered = removeConflictingFixes(ordered, isOptional, evaluate, harms);
  const required = offered.filter((one) => !isOptional(one));
  const ofRequired = evaluate(effectsOf(required));
  const isSafe =
    harmOfAll(observed, expected, required, ofRequired) === undefined &&
    (required.length === offered.length ||
      harmOfAll(observed, expected, offered, evaluate(effectsOf(offered))) === undefined);
  if (!isSafe) dropHarmfulAdditions(observed, expected, offered, evaluate, harms);
  const kept = required.filter(({ finding }) => !harms.has(finding));
  const harmOfFix = new Map([...harms].map(([finding, harm]) => [fixKey(finding), harm]));
  const result = findings.map((finding) =>
    finding.fix === undefined ? finding : { ...finding, fix: reportedFix(finding, harmOfFix.get(fixKey(finding))) },
  );
  const run = result.filter((finding) => isInScript(finding) && !isOptionalFix(finding, method));
  const { changed } = isSafe ? ofRequired : evaluate(effectsOf(kept));
  return {
    findings: result,
    after:
      run.length === 0
        ? undefined
        : result.map((finding) => withoutEffects(changed.get(findingKey(finding)) ?? finding)),
    notSimulated: [...new Set(run.filter(({ fix }) => fix?.simulated === false).map(({ id }) => id))],
  };
}

/** Simulates each fix only once, because many findings can have the same server-wide fix. */
function firstOfEachFix(written: readonly CheckFinding[]): readonly SimulatedFix[] {
  const known = new Set<string>();
  return written.flatMap((finding): readonly SimulatedFix[] => {
    const { fix, database } = finding;
    const key = fixKey(finding);
    if (fix?.effects === undefined || known.has(key)) return [];
    known.add(key);
    const restart: readonly FixEffect[] = fix.restart === true ? [{ kind: 'restart' }] : [];
    return [{ finding, effects: [...restart, ...fix.effects].map((effect) => ({ effect, database })) }];
  });
}

function fixKey(finding: CheckFinding): string {
  const { fix } = finding;
  return fix?.database === undefined && (fix?.sql ?? fix?.review ?? fix?.shell) !== undefined
    ? JSON.stringify([fix?.sql, fix?.review, fix?.shell])
    : findingKey(finding);
}

function effectsOf(fixes: readonly SimulatedFix[]): readonly DatabaseEffect[] {
  return fixes.flatMap(({ effects }) => effects);
}

/**
 * The problem that all fixes together cause; undefined if there is none. A finding that is worse with all fixes than
 * with its own fix alone also counts as a problem.
 */
function harmOfAll(
  observed: ReadonlyMap<string, CheckFinding>,
  expected: ReadonlyMap<string, CheckFinding>,
  fixes: readonly SimulatedFix[],
  evaluated: ChangedFindings,
): FixProblem | undefined {
  if (evaluated.cannotStart !== undefined) return { kind: 'start', why: evaluated.cannotStart };
  const keys = fixes.map(({ finding }) => findingKey(finding));
  const before = new Map([...observed, ...keys.map((key) => [key, expected.get(key)!] as const)]);
  const found = worsened(before, evaluated);
  return found.length === 0 ? undefined : { kind: 'worse', findings: found };
}

/**
 * The findings that are worse with the effects than observed. The finding that the fix corrects is left out. A finding
 * that was skipped was not evaluated before, so it never counts as worse.
 */
function worsened(
  observed: ReadonlyMap<string, CheckFinding>,
  { changed }: ChangedFindings,
  except?: CheckFinding,
): readonly CheckFinding[] {
  return [...changed].flatMap(([key, after]) => {
    const before = observed.get(key);
    return before === undefined || before === except || !isWorse(before, after) ? [] : [after];
  });
}

function isWorse(before: CheckFinding, after: CheckFinding): boolean {
  if (before.status === 'skip') return false;
  if (severityOf[after.status] > severityOf[before.status]) return true;
  if (before.dataLoss === undefined && after.dataLoss !== undefined) return true;
  return after.blocks.some((method) => !before.blocks.includes(method));
}

const severityOf: Readonly<Record<FindingStatus, number>> = {
  pass: 0,
  info: 0,
  skip: 0,
  unknown: 1,
  warn: 2,
  fail: 3,
};

/**
 * Adds one fix after the other. If a fix makes a finding worse together with the fixes added before, it is dropped, or
 * the earlier fix that causes it is dropped.
 */
function dropHarmfulAdditions(
  observed: ReadonlyMap<string, CheckFinding>,
  expected: ReadonlyMap<string, CheckFinding>,
  fixes: readonly SimulatedFix[],
  evaluate: (effects: readonly DatabaseEffect[]) => ChangedFindings,
  harms: Map<CheckFinding, FixProblem>,
): void {
  const harmOf = (some: readonly SimulatedFix[]) => harmOfAll(observed, expected, some, evaluate(effectsOf(some)));
  let added: readonly SimulatedFix[] = [];
  const add = (group: readonly SimulatedFix[]): void => {
    const together = [...added, ...group];
    const harm = harmOf(together);
    const [fix] = group;
    if (harm === undefined || fix === undefined) {
      added = together;
      return;
    }
    if (group.length > 1) {
      // Tests the fixes in halves to find the harmful fixes with few evaluations: of hundreds of fixes only a few are
      // harmful.
      const half = Math.ceil(group.length / 2);
      add(group.slice(0, half));
      add(group.slice(half));
      return;
    }
    const isOwn = harm.kind === 'worse' && harm.findings.some((one) => findingKey(one) === findingKey(fix.finding));
    const without = (other: SimulatedFix) => together.filter((one) => one !== other);
    const culprit = isOwn ? added.find((one) => harmOf(without(one)) === undefined) : undefined;
    harms.set((culprit ?? fix).finding, harm);
    added = without(culprit ?? fix);
  };
  add(fixes);
}

/** The fix as it is written to the report. */
function reportedFix(finding: CheckFinding, harm: FixProblem | undefined): FindingFix {
  const { effects, ...fix } = finding.fix!;
  if (!isInScript(finding)) return fix;
  if (harm === undefined) return { ...fix, simulated: effects !== undefined };
  const worsens = harm.kind === 'worse' ? { worsens: [...new Set(harm.findings.map(({ id }) => id))] } : {};
  return { ...(fix.by === undefined ? {} : { by: fix.by }), ...worsens, text: `${harmText(harm)} ${fix.text}` };
}

function harmText(harm: FixProblem): string {
  switch (harm.kind) {
    case 'worse':
      return `Not written to the fix script, because it would make another finding worse: ${harm.findings
        .slice(0, 3)
        .map(({ id, headline, observed }) => `${id} (${headline}: ${observed})`)
        .join(', ')}.`;
    case 'start':
      return `Not written to the fix script, because the server would not start: ${harm.why}.`;
    case 'conflict':
      return harm.isCorrected
        ? `The fix of ${harm.with} corrects this finding too.`
        : `Not written to the fix script, because the fix of ${harm.with} sets another value.`;
    default:
      return harm satisfies never;
  }
}

function withoutEffects(finding: CheckFinding): CheckFinding {
  if (finding.fix?.effects === undefined) return finding;
  const { effects: _effects, ...fix } = finding.fix;
  return { ...finding, fix };
}
