import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import { timeoutSignal } from '../../platform/timeout-signal.ts';
import { infoNumber, parseKeyspace, type RedisInfo } from '../../redis/info.ts';
import type { RedisSource } from '../../redis/source.ts';
import { parseServerVersion, redisProductNames } from '../../redis/version.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { DatabaseVerdict, PreflightReport } from '../report.ts';
import { rejectUnknownCheckIds } from '../unknown-check-ids.ts';
import { deriveVerdict } from '../verdict.ts';
import { type AnyRedisCheck, redisMethods } from './check.ts';
import { redisChecks } from './checks.ts';
import { type CollectedRedisFacts, collectRedisFacts } from './collect-facts.ts';
import { estimateCopy } from './copy-estimate.ts';
import { evaluateRedisChecks, isBusyError } from './findings.ts';
import { authenticatedUser, type OpenedRedisSource, openRedisSource } from './open-source.ts';
import { infoQuery } from './queries/info.ts';
import type { RedisQueryResult } from './query.ts';
import { queryValue } from './run-queries.ts';
import { createSentCounter } from './sent-counter.ts';
import type { PsyncProbeResult, RedisConnectionResult, RedisSourceFacts } from './source-facts.ts';

export interface RedisRunOptions {
  readonly source: RedisSource;
  readonly wish: PreflightOptions;
  /** Milliseconds for the whole run; 60 s unless told. */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
  readonly clock: Clock;
  /** The closest of the known words, for a misspelt check. */
  readonly nearest: (word: string, known: readonly string[]) => string | undefined;
  /** Steps done and all of them. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Hears every command just before it is sent, as a line of redis-cli; `place` is always `server`. */
  readonly onQuery?: (place: string, text: string) => void;
  /** Milliseconds between the two readings of INFO; 1 s unless told. */
  readonly rateInterval?: number;
  /** The checks to make; the whole catalogue unless told. */
  readonly checks?: readonly AnyRedisCheck[];
}

/**
 * Asks the source everything and judges it. What the source does wrong is in the report; throws a CliError for wrong
 * words of the person (usage), and when the signal ends it (cancelled).
 */
export async function runRedisPreflight(options: RedisRunOptions): Promise<PreflightReport> {
  const { wish, clock, deadline = 60_000, checks = redisChecks } = options;
  const begun = clock.now();
  rejectUnknownCheckIds(
    wish.accept,
    checks.map(({ id }) => id),
    options.nearest,
  );
  const over = timeoutSignal(deadline);
  const signal = options.signal === undefined ? over : AbortSignal.any([over, options.signal]);
  const tally = createSentCounter(options.onQuery);
  options.onProgress?.(0, 3);
  const wayIn = await openRedisSource(options.source, signal);
  for (const line of wayIn.sent) tally.addLine(line);
  options.onProgress?.(1, 3);
  const seen = await collectRedisFacts(options, wayIn, checks, signal, tally);
  options.onProgress?.(3, 3);
  if (options.signal?.aborted === true) throw new CliError('cancelled', 'the preflight was cancelled');
  return {
    ...describeReport(options, wayIn, checks, seen),
    queries: tally.count(),
    started_at: new Date(begun).toISOString(),
    duration_ms: Math.max(0, Math.round(clock.now() - begun - seen.waited)),
  };
}

type ReportBody = Omit<PreflightReport, 'queries' | 'started_at' | 'duration_ms'>;

function describeReport(
  { source, wish }: RedisRunOptions,
  { address, tls, connection: entry }: OpenedRedisSource,
  checks: readonly AnyRedisCheck[],
  { results: answers, rate, sample, renamed, probe, pipelineFailure: relented }: CollectedRedisFacts,
): ReportBody {
  const ssl = source.ssl === 'require';
  // Who cut us off for asking much cuts off the questions about keys as well, and is not away for that.
  const decisive = relented === undefined ? [...answers.values(), sample, renamed] : [...answers.values()];
  const broken = decisive.flatMap((one) => (one.kind === 'failed' && one.broke ? [one.reason] : []))[0];
  const ground: RedisSourceFacts = {
    host: source.host,
    port: source.port,
    user: authenticatedUser(source, entry),
    isUsernameUnused: source.isNameIdle ?? (source.username !== undefined && source.password === undefined),
    ssl,
    address,
    tls,
    connection: entry,
    broken,
    pipelineFailure: relented,
    busy: busyMessage(entry, probe, [...answers.values(), sample, renamed]),
    rate,
    sample,
    renamed,
    probe,
  };
  const facts = queryValue(answers, infoQuery);
  const spaces = facts === undefined ? [] : parseKeyspace(facts);
  const conclusion = deriveVerdict({
    findings: evaluateRedisChecks(checks, answers, ground, wish),
    databases: spaces.map(({ index }) => `db${index}`),
    methods: redisMethods,
    method: wish.method,
    accept: wish.accept,
    strict: wish.strict,
    mayBlock: (id) => checks.find((check) => check.id === id)?.mayBlock ?? [],
    undetermined: wish.targetVersion === undefined ? ['version-not-newer'] : [],
  });
  const load = facts === undefined ? undefined : estimateCopy(facts);
  const dialled = address.connects.find(({ error }) => error === undefined)?.address;
  return {
    schema_version: 1,
    engine: 'redis',
    ...conclusion,
    method: wish.method,
    source: {
      host: source.host,
      port: source.port,
      ...shownUsername(source, entry),
      ssl,
      ...(dialled === undefined ? {} : { address: dialled }),
      ...(facts === undefined ? {} : describeServer(facts)),
    },
    target: wish.targetVersion === undefined ? {} : { version: wish.targetVersion },
    databases: conclusion.databases.map((one, at): DatabaseVerdict => ({ ...one, keys: spaces[at]?.keys ?? 0 })),
    ...(load === undefined
      ? {}
      : { estimate: { seconds_low: Math.ceil(load.shortest), seconds_high: Math.ceil(load.longest) } }),
  };
}

/** At the door, or in the middle of the questions. */
function busyMessage(
  entry: RedisConnectionResult,
  probe: PsyncProbeResult | undefined,
  answers: readonly RedisQueryResult<unknown>[],
): string | undefined {
  if (entry.kind === 'entered' && entry.notice?.code === 'BUSY') return entry.notice.message;
  if (probe?.kind === 'refused' && probe.code === 'BUSY') return probe.message;
  return answers.flatMap((one) => (one.kind === 'failed' && isBusyError(one.reason) ? [one.reason] : []))[0];
}

function shownUsername({ username, isNameAlone }: RedisSource, entry: RedisConnectionResult) {
  const isHidden = isNameAlone === true && !(entry.kind === 'entered' && entry.auth === 'password');
  return username === undefined || isHidden ? {} : { username };
}

function describeServer(facts: RedisInfo) {
  const version = parseServerVersion(facts);
  return {
    ...(version === undefined
      ? {}
      : {
          server_version:
            version.product === 'redis' ? version.version : `${redisProductNames[version.product]} ${version.version}`,
        }),
    role: {
      primary: facts.get('role') !== 'slave',
      cluster: facts.get('cluster_enabled') === '1',
      replicas: (infoNumber(facts, 'connected_slaves') ?? 0) > 0,
    },
  };
}
