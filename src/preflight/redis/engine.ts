import { infoNumber, parseKeyspace, type RedisInfo } from '../../redis/info.ts';
import type { RedisSource } from '../../redis/source.ts';
import { parseServerVersion, redisProductNames } from '../../redis/version.ts';
import { knownQueryValue } from '../query.ts';
import type { DatabaseVerdict } from '../report.ts';
import { connectedAddress, type EngineReport, type PreflightEngine } from '../run.ts';
import type { ReportConclusion } from '../verdict.ts';
import { type RedisCheck, redisMethods } from './check.ts';
import { redisChecks } from './checks.ts';
import {
  type CollectedRedisFacts,
  collectRedisFacts,
  observeCommands,
  type SentCommandCounter,
} from './collect-facts.ts';
import { estimateCopy } from './copy-estimate.ts';
import { evaluateRedisChecks } from './evaluate-checks.ts';
import { evaluateRedisEffects } from './evaluate-effects.ts';
import { type OpenedRedisSource, openRedisSource } from './open-source.ts';
import { infoQuery } from './queries/info.ts';
import type { RedisConnectionResult } from './source-facts.ts';

export interface RedisEngineOptions {
  /** Milliseconds between the two measurements of the activity (default: 1 s). */
  readonly rateInterval?: number;
  /** The Redis checks to run (default: all). */
  readonly checks?: readonly RedisCheck[];
}

interface OpenedRedis extends OpenedRedisSource {
  readonly observer: SentCommandCounter;
}

/**
 * The operations of a preflight of a Redis source. The progress of a Redis preflight counts three steps: connected,
 * queried, measured.
 */
export function redisEngine({
  rateInterval = 1000,
  checks = redisChecks,
}: RedisEngineOptions = {}): PreflightEngine<RedisSource, OpenedRedis, CollectedRedisFacts> {
  return {
    name: 'redis',
    methods: redisMethods,
    checks,
    async open(run) {
      const observer = observeCommands(run.onSend);
      run.onProgress(0, 3);
      const opened = await openRedisSource(run.source, { signal: run.signal, onCommand: observer.onCommand });
      run.onProgress(1, 3);
      return { ...opened, observer };
    },
    async collectFacts(opened, run) {
      const collected = await collectRedisFacts(opened, run, opened.observer, checks, rateInterval);
      run.onProgress(3, 3);
      return collected;
    },
    evaluate({ facts, results }, options) {
      const info = knownQueryValue(results, infoQuery);
      return {
        findings: evaluateRedisChecks(checks, results, facts, options),
        databases: info === undefined ? [] : parseKeyspace(info).map(({ index }) => `db${index}`),
      };
    },
    effectsEvaluator: (collected, options) => (effects) => evaluateRedisEffects(checks, collected, options, effects),
    describe: (collected, conclusion, { source }) => describeRedis(collected, conclusion, source),
  };
}

function describeRedis(
  { facts, results }: CollectedRedisFacts,
  { databases }: ReportConclusion,
  source: RedisSource,
): EngineReport<object> {
  const info = knownQueryValue(results, infoQuery);
  const keyspace = info === undefined ? [] : parseKeyspace(info);
  const copy = info === undefined ? undefined : estimateCopy(info);
  return {
    source: {
      host: source.host,
      port: source.port,
      ...shownUsername(source, facts.connection),
      ssl: facts.ssl,
      ...connectedAddress(facts.address),
      ...(info === undefined ? {} : describeServer(info)),
    },
    databases: databases.map((one, at): DatabaseVerdict => ({ ...one, keys: keyspace[at]?.keys ?? 0 })),
    estimate: copy === undefined ? undefined : { low: copy.shortest, high: copy.longest },
    extra: {},
  };
}

/**
 * A user name without a colon behind it may be a password, so it is shown only if the server accepted it together with
 * a password.
 */
function shownUsername({ username, isUsernameAmbiguous }: RedisSource, connection: RedisConnectionResult) {
  const isHidden = isUsernameAmbiguous === true && !(connection.kind === 'connected' && connection.auth === 'password');
  return username === undefined || isHidden ? {} : { username };
}

function describeServer(info: RedisInfo) {
  const version = parseServerVersion(info);
  return {
    ...(version === undefined
      ? {}
      : {
          server_version:
            version.product === 'redis' ? version.version : `${redisProductNames[version.product]} ${version.version}`,
        }),
    role: {
      primary: info.get('role') !== 'slave',
      cluster: info.get('cluster_enabled') === '1',
      replicas: (infoNumber(info, 'connected_slaves') ?? 0) > 0,
    },
  };
}
