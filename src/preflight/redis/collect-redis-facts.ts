import type { RedisEndpoint } from '../../redis/endpoint.ts';
import { parseKeyspace } from '../../redis/info.ts';
import { formatRedisCommand } from '../../redis/quote.ts';
import { encodeRedisCommand } from '../../redis/resp.ts';
import type { RedisConnectOptions } from '../../redis/send-redis-command.ts';
import { getPreflightQueryValue, type PreflightQueryResult } from '../query.ts';
import type { CollectedSourceFacts, PreflightEngineInput } from '../run.ts';
import type { RedisCheck } from './check.ts';
import { findRenamedRedisWriteCommands } from './find-renamed-commands.ts';
import { sampleRedisKeys } from './key-sample.ts';
import { measureRedisActivityRate } from './measure-activity-rate.ts';
import { getAuthenticatedRedisUser, type RedisSourceOpenResult } from './open-redis-source.ts';
import { isRedisBusyError } from './outcome-without-result.ts';
import { probePsync } from './probe-psync.ts';
import { redisReplicationConfigQuery } from './queries/config.ts';
import { redisInfoQuery } from './queries/info.ts';
import { retryRedisPreflightQueries } from './retry-redis-preflight-queries.ts';
import {
  type RedisPreflightQueryResults,
  runRedisPreflightQueries,
  toRedisQueryResult,
} from './run-redis-preflight-queries.ts';
import type { RedisConnectionResult, RedisSourceFacts } from './source-facts.ts';

export interface CollectedRedisFacts extends CollectedSourceFacts {
  readonly facts: RedisSourceFacts;
  readonly results: RedisPreflightQueryResults;
}

/**
 * Reports each sent command in the form of a redis-cli line, and counts the sent bytes, which the measurement of the
 * source activity subtracts.
 */
export interface SentRedisTrafficObserver extends Required<Pick<RedisConnectOptions, 'onCommand'>> {
  readonly sent: () => { readonly bytes: number; readonly commands: number };
}

export function createSentRedisTrafficObserver(
  onSend: PreflightEngineInput<RedisEndpoint>['onSend'],
): SentRedisTrafficObserver {
  let bytes = 0;
  let commands = 0;
  return {
    onCommand(command) {
      bytes += encodeRedisCommand(command).length;
      commands += 1;
      const parts = command.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString('utf8')));
      onSend('server', formatRedisCommand(...parts));
    },
    sent: () => ({ bytes, commands }),
  };
}

const samplePermission = { id: 'SCAN', permission: '+select +scan +type +memory|usage' };
const noSession = { kind: 'skipped', reason: 'no session with the server' } as const;

/**
 * Runs the queries of the checks, and then samples keys while the activity of the server is measured. Ends the session.
 */
export async function collectRedisFacts(
  opened: RedisSourceOpenResult,
  run: PreflightEngineInput<RedisEndpoint>,
  observer: SentRedisTrafficObserver,
  checks: readonly RedisCheck[],
  rateInterval: number,
): Promise<CollectedRedisFacts> {
  const { session: first, source: connected, connection } = opened;
  if (first === undefined) return { facts: factsOf(opened, run), results: new Map(), waited: 0 };
  const context = { user: getAuthenticatedRedisUser(run.source, connection) };
  const connect = { signal: run.signal, onCommand: observer.onCommand, memory: opened.memory };
  let session = first;
  try {
    const pipelined = await runRedisPreflightQueries(session, checks, context, 10_000);
    const retried = await retryRedisPreflightQueries(pipelined, session, { source: connected, context, connect });
    const { results, pipelineFailure } = retried;
    session = retried.session;
    run.onProgress(2, 3);
    let sample: RedisSourceFacts['sample'] = noSession;
    let renamed: RedisSourceFacts['renamed'] = noSession;
    let probe: RedisSourceFacts['probe'];
    const { signal, clock } = run;
    const measurement = { clock, interval: rateInterval, signal, sent: observer.sent };
    const { rate, waited } = await measureRedisActivityRate(session, measurement, async () => {
      const info = getPreflightQueryValue(results, redisInfoQuery);
      const databases = info === undefined ? [0] : parseKeyspace(info).map(({ index }) => index);
      sample = await toRedisQueryResult(sampleRedisKeys(session, databases), samplePermission, context);
      renamed = await findRenamedRedisWriteCommands(session, results, context);
      if (run.options.probe)
        probe = await probePsync(connected, { ...connect, limit: 15_000, copyLimit: copyLimit(results) });
    });
    const measured = { rate, sample, renamed, probe, pipelineFailure };
    return { facts: factsOf(opened, run, results, measured), results, waited };
  } finally {
    session.end();
  }
}

/**
 * Milliseconds within which the copy should begin: for a diskless copy Redis first waits for other replicas, here for
 * at most 20 s.
 */
function copyLimit(results: RedisPreflightQueryResults): number {
  const delay = Number(
    getPreflightQueryValue(results, redisReplicationConfigQuery)?.get('repl-diskless-sync-delay') ?? 5,
  );
  return 15_000 + 1000 * Math.min(20, Math.max(0, Number.isFinite(delay) ? delay : 0));
}

type Measured = Pick<RedisSourceFacts, 'rate' | 'sample' | 'renamed' | 'probe' | 'pipelineFailure'>;

const notMeasured: Measured = { rate: undefined, sample: noSession, renamed: noSession, probe: undefined };

function factsOf(
  { address, tls, connection }: RedisSourceOpenResult,
  { source }: PreflightEngineInput<RedisEndpoint>,
  queried: RedisPreflightQueryResults = new Map(),
  measured: Measured = notMeasured,
): RedisSourceFacts {
  const { sample, renamed, pipelineFailure, probe } = measured;
  const results = [...queried.values()];
  // A server that disconnects a client with many pending replies may also do so during the key sample; such a server
  // still counts as reachable.
  const decisive = pipelineFailure === undefined ? [...results, sample, renamed] : results;
  const broken = decisive.flatMap((result) => (result.kind === 'failed' && result.broke ? [result.reason] : []))[0];
  return {
    host: source.host,
    port: source.port,
    user: getAuthenticatedRedisUser(source, connection),
    isUsernameUnused: source.isUsernameUnused ?? (source.username !== undefined && source.password === undefined),
    ssl: source.ssl === 'require',
    address,
    tls,
    connection,
    broken,
    busy: busyMessage(connection, probe, [...results, sample, renamed]),
    ...measured,
  };
}

/** The BUSY error in the reply to the login or to any query. */
function busyMessage(
  connection: RedisConnectionResult,
  probe: RedisSourceFacts['probe'],
  results: readonly PreflightQueryResult<unknown>[],
): string | undefined {
  if (connection.kind === 'connected' && connection.notice?.code === 'BUSY') return connection.notice.message;
  if (probe?.kind === 'refused' && probe.code === 'BUSY') return probe.message;
  return results.flatMap((one) => (one.kind === 'failed' && isRedisBusyError(one.reason) ? [one.reason] : []))[0];
}
