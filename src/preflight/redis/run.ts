import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import { timeoutSignal } from '../../platform/timeout.ts';
import { type Info, keyspaceOf, numberIn } from '../../redis/info.ts';
import type { RedisSource } from '../../redis/source.ts';
import { flavorNames, serverVersion } from '../../redis/version.ts';
import { refuseUnknownIds } from '../misspelt.ts';
import type { DatabaseVerdict, Report } from '../report.ts';
import { conclude } from '../verdict.ts';
import type { Wish } from '../wish.ts';
import type { Answer } from './ask.ts';
import { info } from './asks/info.ts';
import { catalogue } from './catalogue.ts';
import { type AnyCheck, every } from './check.ts';
import { enterSource, userOf, type WayIn } from './entry.ts';
import { isBusy, judgeAll } from './findings.ts';
import { knownTo } from './gather.ts';
import type { Entry, Ground, Probe } from './ground.ts';
import { loadOf } from './load.ts';
import { type Survey, survey } from './survey.ts';
import { tallyOf } from './tally.ts';

export interface PreflightOptions {
  readonly source: RedisSource;
  readonly wish: Wish;
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
  readonly checks?: readonly AnyCheck[];
}

/**
 * Asks the source everything and judges it. What the source does wrong is in the report; throws a CliError for wrong
 * words of the person (usage), and when the signal ends it (cancelled).
 */
export async function preflightRedis(options: PreflightOptions): Promise<Report> {
  const { wish, clock, deadline = 60_000, checks = catalogue } = options;
  const begun = clock.now();
  refuseUnknownIds(
    wish.accept,
    checks.map(({ id }) => id),
    options.nearest,
  );
  const over = timeoutSignal(deadline);
  const signal = options.signal === undefined ? over : AbortSignal.any([over, options.signal]);
  const tally = tallyOf(options.onQuery);
  options.onProgress?.(0, 3);
  const wayIn = await enterSource(options.source, signal);
  for (const line of wayIn.sent) tally.said(line);
  options.onProgress?.(1, 3);
  const seen = await survey(options, wayIn, checks, signal, tally);
  options.onProgress?.(3, 3);
  if (options.signal?.aborted === true) throw new CliError('cancelled', 'the preflight was cancelled');
  return {
    ...report(options, wayIn, checks, seen),
    queries: tally.count(),
    started_at: new Date(begun).toISOString(),
    duration_ms: Math.max(0, Math.round(clock.now() - begun - seen.waited)),
  };
}

type Described = Omit<Report, 'queries' | 'started_at' | 'duration_ms'>;

function report(
  { source, wish }: PreflightOptions,
  { address, tls, entry }: WayIn,
  checks: readonly AnyCheck[],
  { answers, rate, sample, renamed, probe, relented }: Survey,
): Described {
  const ssl = source.ssl === 'require';
  // Who cut us off for asking much cuts off the questions about keys as well, and is not away for that.
  const decisive = relented === undefined ? [...answers.values(), sample, renamed] : [...answers.values()];
  const broken = decisive.flatMap((one) => (one.kind === 'failed' && one.broke ? [one.reason] : []))[0];
  const ground: Ground = {
    host: source.host,
    port: source.port,
    user: userOf(source, entry),
    isNameIdle: source.isNameIdle ?? (source.username !== undefined && source.password === undefined),
    ssl,
    address,
    tls,
    entry,
    broken,
    relented,
    busy: busyWords(entry, probe, [...answers.values(), sample, renamed]),
    rate,
    sample,
    renamed,
    probe,
  };
  const facts = knownTo(answers, info);
  const spaces = facts === undefined ? [] : keyspaceOf(facts);
  const conclusion = conclude({
    findings: judgeAll(checks, answers, ground, wish),
    databases: spaces.map(({ index }) => `db${index}`),
    methods: every,
    method: wish.method,
    accept: wish.accept,
    strict: wish.strict,
    mayBlock: (id) => checks.find((check) => check.id === id)?.mayBlock ?? [],
    untold: wish.targetVersion === undefined ? ['version-not-newer'] : [],
  });
  const load = facts === undefined ? undefined : loadOf(facts);
  const dialled = address.connects.find(({ error }) => error === undefined)?.address;
  return {
    schema_version: 1,
    engine: 'redis',
    ...conclusion,
    method: wish.method,
    source: {
      host: source.host,
      port: source.port,
      ...shownName(source, entry),
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
function busyWords(entry: Entry, probe: Probe | undefined, answers: readonly Answer<unknown>[]): string | undefined {
  if (entry.kind === 'entered' && entry.notice?.code === 'BUSY') return entry.notice.message;
  if (probe?.kind === 'refused' && probe.code === 'BUSY') return probe.message;
  return answers.flatMap((one) => (one.kind === 'failed' && isBusy(one.reason) ? [one.reason] : []))[0];
}

function shownName({ username, isNameAlone }: RedisSource, entry: Entry) {
  const isHidden = isNameAlone === true && !(entry.kind === 'entered' && entry.auth === 'password');
  return username === undefined || isHidden ? {} : { username };
}

function describeServer(facts: Info) {
  const version = serverVersion(facts);
  return {
    ...(version === undefined
      ? {}
      : {
          server_version:
            version.flavor === 'redis' ? version.version : `${flavorNames[version.flavor]} ${version.version}`,
        }),
    role: {
      primary: facts.get('role') !== 'slave',
      cluster: facts.get('cluster_enabled') === '1',
      replicas: (numberIn(facts, 'connected_slaves') ?? 0) > 0,
    },
  };
}
