import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { Words } from '../../redis/connection.ts';
import { type Info, keyspaceOf, numberIn } from '../../redis/info.ts';
import { commandLine } from '../../redis/quote.ts';
import type { RedisSource } from '../../redis/source.ts';
import { flavorNames, serverVersion } from '../../redis/version.ts';
import { encode } from '../../redis/wire.ts';
import { refuseUnknownIds } from '../misspelt.ts';
import type { DatabaseVerdict, Report } from '../report.ts';
import { conclude } from '../verdict.ts';
import type { Wish } from '../wish.ts';
import type { Answer } from './ask.ts';
import { info } from './asks/info.ts';
import { catalogue } from './catalogue.ts';
import { type AnyCheck, every } from './check.ts';
import { enterSource, type WayIn } from './entry.ts';
import { isBusy, judgeAll } from './findings.ts';
import { type Answers, answered, gather } from './gather.ts';
import type { Entry, Ground, Probe, Rate } from './ground.ts';
import { loadOf } from './load.ts';
import { probePsync } from './probe.ts';
import { type Sample, takeSample } from './sample.ts';
import { watchRate } from './watch.ts';

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
  const over = AbortSignal.timeout(deadline);
  const signal = options.signal === undefined ? over : AbortSignal.any([over, options.signal]);
  const tally = tallyOf(options);
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

interface Tally {
  readonly heard: (words: Words) => void;
  readonly said: (line: string) => void;
  readonly count: () => number;
  readonly bytes: () => number;
}

/** Counts and tells what is sent. */
function tallyOf({ onQuery }: PreflightOptions): Tally {
  let count = 0;
  let bytes = 0;
  const said = (line: string) => {
    count += 1;
    onQuery?.('server', line);
  };
  return {
    said,
    heard(words) {
      const texts = words.map((word) => (typeof word === 'string' ? word : Buffer.from(word).toString('utf8')));
      bytes += encode(texts).length;
      said(commandLine(...texts));
    },
    count: () => count,
    bytes: () => bytes,
  };
}

interface Survey {
  readonly answers: Answers;
  readonly rate: Rate | undefined;
  readonly sample: Answer<Sample>;
  readonly probe: Probe | undefined;
  readonly waited: number;
}

const samplePermission = { id: 'SCAN', permission: '+select +scan +type +memory|usage' };

async function survey(
  { source, wish, clock, rateInterval = 1000, onProgress }: PreflightOptions,
  { session, source: dialled }: WayIn,
  checks: readonly AnyCheck[],
  signal: AbortSignal,
  tally: Tally,
): Promise<Survey> {
  const nothing: Survey = {
    answers: new Map(),
    rate: undefined,
    sample: { kind: 'skipped', reason: 'the server was not entered' },
    probe: undefined,
    waited: 0,
  };
  if (session === undefined) return nothing;
  const context = { user: source.username ?? 'default' };
  try {
    const answers = await gather(session, checks, context, 10_000, tally.heard);
    onProgress?.(2, 3);
    let { sample, probe } = nothing;
    const look = async () => {
      const facts = infoOf(answers);
      const databases = facts === undefined ? [0] : keyspaceOf(facts).map(({ index }) => index);
      sample = await answered(takeSample(session, databases, tally.heard), samplePermission, context);
      if (wish.probe) {
        probe = await probePsync(dialled, { limit: 15_000, signal }, (words) => tally.said(commandLine(...words)));
      }
    };
    const watching = {
      clock,
      interval: rateInterval,
      signal,
      heard: tally.heard,
      sent: () => ({ bytes: tally.bytes(), commands: tally.count() }),
    };
    const { rate, waited } = await watchRate(session, watching, look);
    return { answers, rate, sample, probe, waited };
  } finally {
    session.end();
  }
}

type Described = Omit<Report, 'queries' | 'started_at' | 'duration_ms'>;

function report(
  { source, wish }: PreflightOptions,
  { address, tls, entry }: WayIn,
  checks: readonly AnyCheck[],
  { answers, rate, sample, probe }: Survey,
): Described {
  const ssl = source.ssl === 'require';
  const user = entry.kind === 'entered' && entry.auth === 'password' ? (source.username ?? 'default') : 'default';
  const broken = [...answers.values(), sample].flatMap((one) =>
    one.kind === 'failed' && one.broke ? [one.reason] : [],
  )[0];
  const ground: Ground = {
    host: source.host,
    port: source.port,
    user,
    ssl,
    address,
    tls,
    entry,
    broken,
    busy: busyWords(entry, probe, [...answers.values(), sample]),
    rate,
    sample,
    probe,
  };
  const facts = infoOf(answers);
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
      ...(source.username === undefined ? {} : { username: source.username }),
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

function infoOf(answers: Answers): Info | undefined {
  const answer: Answer<Info> | undefined = answers.get(info);
  return answer?.kind === 'known' ? answer.value : undefined;
}
