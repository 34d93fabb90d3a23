import type { Clock } from '../../platform/host.ts';
import { parseKeyspace } from '../../redis/info.ts';
import { formatRedisCommand } from '../../redis/quote.ts';
import type { RedisSource } from '../../redis/source.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { AnyRedisCheck } from './check.ts';
import { findRenamedCommands } from './find-renamed-commands.ts';
import { type KeySample, sampleKeys } from './key-sample.ts';
import { measureActivityRate } from './measure-activity-rate.ts';
import { authenticatedUser, type OpenedRedisSource } from './open-source.ts';
import { probePsync } from './probe-psync.ts';
import { infoQuery } from './queries/info.ts';
import type { RedisQueryResult } from './query.ts';
import { retryQueries } from './retry-queries.ts';
import { queryValue, type RedisQueryResults, runRedisQueries, toQueryResult } from './run-queries.ts';
import type { SentCounter } from './sent-counter.ts';
import type { PsyncProbeResult, RedisActivityRate } from './source-facts.ts';

/** What was asked and watched of a server. */
export interface CollectedRedisFacts {
  readonly results: RedisQueryResults;
  readonly rate: RedisActivityRate | undefined;
  readonly sample: RedisQueryResult<KeySample>;
  readonly renamed: RedisQueryResult<readonly string[]>;
  readonly probe: PsyncProbeResult | undefined;
  readonly waited: number;
  /** What broke the connection once, and not again. */
  readonly pipelineFailure: string | undefined;
}

const samplePermission = { id: 'SCAN', permission: '+select +scan +type +memory|usage' };
const notEntered = { kind: 'skipped', reason: 'the server was not entered' } as const;

export interface RedisCollectOptions {
  readonly source: RedisSource;
  readonly wish: PreflightOptions;
  readonly clock: Clock;
  readonly rateInterval?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Asks the questions of the checks, and then looks at keys while the rates are watched. Ends the session. */
export async function collectRedisFacts(
  { source, wish, clock, rateInterval = 1000, onProgress }: RedisCollectOptions,
  { session: entered, source: dialled, connection: entry }: OpenedRedisSource,
  checks: readonly AnyRedisCheck[],
  signal: AbortSignal,
  tally: SentCounter,
): Promise<CollectedRedisFacts> {
  const nothing: CollectedRedisFacts = {
    results: new Map(),
    rate: undefined,
    sample: notEntered,
    renamed: notEntered,
    probe: undefined,
    waited: 0,
    pipelineFailure: undefined,
  };
  if (entered === undefined) return nothing;
  let session = entered;
  const context = { user: authenticatedUser(source, entry) };
  try {
    const first = await runRedisQueries(session, checks, context, 10_000, tally.addCommand);
    const again = await retryQueries(first, session, { source: dialled, context, signal, heard: tally.addCommand });
    const { results: answers, pipelineFailure: relented } = again;
    session = again.session;
    onProgress?.(2, 3);
    let { sample, renamed, probe } = nothing;
    const look = async () => {
      const facts = queryValue(answers, infoQuery);
      const databases = facts === undefined ? [0] : parseKeyspace(facts).map(({ index }) => index);
      sample = await toQueryResult(sampleKeys(session, databases, tally.addCommand), samplePermission, context);
      renamed = await findRenamedCommands(session, answers, context, tally.addCommand);
      if (wish.probe) {
        probe = await probePsync(dialled, { limit: 15_000, signal }, (words) =>
          tally.addLine(formatRedisCommand(...words)),
        );
      }
    };
    const watching = {
      clock,
      interval: rateInterval,
      signal,
      heard: tally.addCommand,
      sent: () => ({ bytes: tally.bytes(), commands: tally.count() }),
    };
    const { rate, waited } = await measureActivityRate(session, watching, look);
    return { results: answers, rate, sample, renamed, probe, waited, pipelineFailure: relented };
  } finally {
    session.end();
  }
}
