import { CliError } from '../../base/errors.ts';
import type { Clock } from '../../platform/host.ts';
import { timeoutSignal } from '../../platform/waiting.ts';
import type { CheckDescription } from './check.ts';
import type { ChangedFindings, CheckFinding, DatabaseEffect, MigrationMethod } from './finding.ts';
import { type PreflightOptions, rejectUnknownIds, type WordFinder } from './options.ts';
import type { DatabaseVerdict, IgnoreAdvice, PreflightReport } from './report.ts';
import { simulateFixes } from './simulate-preflight-fixes.ts';
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
