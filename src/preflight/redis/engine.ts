import type { RedisEndpoint } from '../../redis/endpoint.ts';
import { parseKeyspace, type RedisInfo, readRedisInfoNumber } from '../../redis/info.ts';
import { parseRedisServerVersion, redisProductNames } from '../../redis/version.ts';
import { getConnectedSourceAddress } from '../network/network-facts.ts';
import { getPreflightQueryValue } from '../query.ts';
import type { DatabasePreflightVerdict } from '../report.ts';
import type { PreflightEngine, PreflightEngineReport } from '../run.ts';
import type { PreflightConclusion } from '../verdict.ts';
import { redisMigrationMethods } from './check.ts';
import { redisChecks } from './checks.ts';
import {
  type CollectedRedisFacts,
  collectRedisFacts,
  createSentRedisTrafficObserver,
  type SentRedisTrafficObserver,
} from './collect-redis-facts.ts';
import { estimateRedisCopy } from './copy-estimate.ts';
import { evaluateRedisChecks } from './evaluate-checks.ts';
import { evaluateRedisChecksAfterFixes } from './evaluate-redis-checks-after-fixes.ts';
import { openRedisSource, type RedisSourceOpenResult } from './open-redis-source.ts';
import { redisInfoQuery } from './queries/info.ts';
import type { RedisConnectionResult } from './source-facts.ts';

export interface RedisPreflightEngineOptions {
  /** Milliseconds between the two measurements of the activity (default: 1 s). */
  readonly rateInterval?: number;
}

interface OpenedRedis extends RedisSourceOpenResult {
  readonly observer: SentRedisTrafficObserver;
}

export type RedisPreflightEngine = PreflightEngine<RedisEndpoint, OpenedRedis, CollectedRedisFacts>;

/**
 * The operations of a preflight of a Redis source. The progress of a Redis preflight counts three steps: connected,
 * queried, measured.
 */
export function createRedisPreflightEngine({
  rateInterval = 1000,
}: RedisPreflightEngineOptions = {}): RedisPreflightEngine {
  return {
    name: 'redis',
    methods: redisMigrationMethods,
    checks: redisChecks,
    async open(run) {
      const observer = createSentRedisTrafficObserver(run.onSend);
      run.onProgress(0, 3);
      const opened = await openRedisSource(run.source, { signal: run.signal, onCommand: observer.onCommand });
      run.onProgress(1, 3);
      return { ...opened, observer };
    },
    async collectFacts(opened, run) {
      const collected = await collectRedisFacts(opened, run, opened.observer, redisChecks, rateInterval);
      run.onProgress(3, 3);
      return collected;
    },
    evaluate({ facts, results }, options) {
      const info = getPreflightQueryValue(results, redisInfoQuery);
      return {
        findings: evaluateRedisChecks(redisChecks, results, facts, options),
        databases: info === undefined ? [] : parseKeyspace(info).map(({ index }) => `db${index}`),
      };
    },
    effectsEvaluator: (collected, options) => (effects) =>
      evaluateRedisChecksAfterFixes(redisChecks, collected, options, effects),
    describe: (collected, conclusion, { source }) => describeRedis(collected, conclusion, source),
  };
}

function describeRedis(
  { facts, results }: CollectedRedisFacts,
  { databases }: PreflightConclusion,
  source: RedisEndpoint,
): PreflightEngineReport<object> {
  const info = getPreflightQueryValue(results, redisInfoQuery);
  const keyspace = info === undefined ? [] : parseKeyspace(info);
  const copy = info === undefined ? undefined : estimateRedisCopy(info);
  return {
    source: {
      host: source.host,
      port: source.port,
      ...shownUsername(source, facts.connection),
      ssl: facts.ssl,
      ...getConnectedSourceAddress(facts.address),
      ...(info === undefined ? {} : describeServer(info)),
    },
    databases: databases.map((one, at): DatabasePreflightVerdict => ({ ...one, keys: keyspace[at]?.keys ?? 0 })),
    estimate: copy === undefined ? undefined : { low: copy.shortest, high: copy.longest },
    extra: {},
  };
}

/**
 * A user name without a colon behind it may be a password, so it is shown only if the server accepted it together with
 * a password.
 */
function shownUsername({ username, isUsernameAmbiguous }: RedisEndpoint, connection: RedisConnectionResult) {
  const isHidden = isUsernameAmbiguous === true && !(connection.kind === 'connected' && connection.auth === 'password');
  return username === undefined || isHidden ? {} : { username };
}

function describeServer(info: RedisInfo) {
  const version = parseRedisServerVersion(info);
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
      replicas: (readRedisInfoNumber(info, 'connected_slaves') ?? 0) > 0,
    },
  };
}
