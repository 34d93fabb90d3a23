import { formatBytes } from '../../../../base/text.ts';
import { infoNumber, type RedisInfo } from '../../../../redis/info.ts';
import { isServerAtLeast, parseServerVersion } from '../../../../redis/version.ts';
import { type FindingFix, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { configSetFix, declareRedisCheck, redisAdministrator } from '../check.ts';
import {
  type ConfigValues,
  dualChannelQuery,
  infoQuery,
  outputBufferQuery,
  type ReplicationSetting,
  replicationQuery,
} from '../queries.ts';
import {
  type CopyEstimate,
  estimateRedisCopy,
  formatWriteRate,
  freeHostMemory,
  type RedisSourceFacts,
} from '../source.ts';

export const replicaOutputBufferCheck = declareRedisCheck({
  id: 'replica-output-buffer',
  title: 'the writes during the copy fit into the output buffer of replicas',
  headline: 'The writes during the copy may not fit into the output buffer of replicas',
  severity: { continuous: 'blocker' },
  queries: {
    info: infoQuery,
    limits: outputBufferQuery,
    settings: markOptional(replicationQuery),
    channels: markOptional(dualChannelQuery),
  },
  evaluate({ info, limits, settings, channels }, facts) {
    const limit = parseReplicaLimit(limits.get('client-output-buffer-limit') ?? '');
    const copy = estimateRedisCopy(info);
    if (limit === undefined || copy === undefined) return unknownOutcome('could not parse client-output-buffer-limit');
    const hard = effectiveHardLimit(limit.hard, info, valueOr(settings, undefined));
    const observed = `${limit.name} ${limit.hard} ${limit.soft} ${limit.seconds}`;
    if (hard === 0 && limit.soft === 0) return passOutcome(`${observed}: no limit`);
    const need = estimateBuffer(hard, limit, copy, facts);
    if (need.certainty === 'enough') return passOutcome(observed, { detail: need.text });
    const details = {
      required: `a hard limit of ${formatBytes(need.wanted)}, or none`,
      detail: `${need.text} When the buffer is full the source ends the copy with \`scheduled to be closed ASAP for overcoming of output buffer limits\`, and the target restarts the copy endlessly.`,
      fix: raiseLimit(limit, need.wanted, info),
    };
    if (need.certainty === 'doubtful') return warnOutcome(observed, details);
    // With a channel for the copy, a target that has one too holds the writes itself, whatever the limit is.
    const hasOwnChannel =
      valueOr(settings, undefined)?.get('repl-rdb-channel') === 'yes' ||
      valueOr(channels, undefined)?.get('dual-channel-replication-enabled') === 'yes';
    if (need.certainty === 'hopeless' && !hasOwnChannel) return failOutcome(['continuous'], observed, details);
    return {
      ...unknownOutcome(observed, details.fix),
      ...details,
      premise: 'the copy ends before its writes fill the output buffer of replicas',
      settledBy: 'a higher limit (see the fix), or --accept replica-output-buffer',
    };
  },
});

/** Without a limit the output buffer for a stalled target would fill the memory of the machine. */
function raiseLimit({ name, hard, soft, seconds }: OutputBufferLimit, wanted: number, info: RedisInfo): FindingFix {
  const bytes = Math.max(hard, Math.ceil(wanted / 2 ** 20) * 2 ** 20);
  const room = freeHostMemory(info);
  if (bytes > hard && (room === undefined || bytes > room)) {
    return {
      by: redisAdministrator,
      text: `Migrate when fewer keys are written. A limit of ${formatBytes(bytes)} needs as much free memory, and the machine ${room === undefined ? 'does not report its memory' : `has only ${formatBytes(room)} of free memory`}.`,
    };
  }
  return configSetFix(
    'client-output-buffer-limit',
    `${name} ${bytes} 0 0`,
    `${name} ${hard} ${soft} ${seconds}`,
    info,
    'Raise the limit for the time of the migration, and monitor the memory.',
  );
}

interface OutputBufferLimit {
  /** The client class of the limit: `replica`, or `slave` in older servers and Valkey. */
  readonly name: string;
  /** Bytes. */
  readonly hard: number;
  readonly soft: number;
  /** Seconds for which the soft limit may be exceeded. */
  readonly seconds: number;
}

/**
 * The limits for replicas in the value of client-output-buffer-limit, such as `normal 0 0 0 slave 268435456 67108864 60
 * pubsub 33554432 8388608 60`.
 */
function parseReplicaLimit(value: string): OutputBufferLimit | undefined {
  const [, name, hard, soft, seconds] = /\b(slave|replica) (\d+) (\d+) (\d+)/.exec(value) ?? [];
  return name === undefined ? undefined : { name, hard: Number(hard), soft: Number(soft), seconds: Number(seconds) };
}

/**
 * Since Redis 7.0 replicas share the replication backlog as output buffer, and a limit below the size of the backlog
 * has no effect.
 */
function effectiveHardLimit(
  hard: number,
  info: RedisInfo,
  settings: ConfigValues<ReplicationSetting> | undefined,
): number {
  const version = parseServerVersion(info);
  const isShared = isServerAtLeast(version, 7, 0);
  const backlog = Number(settings?.get('repl-backlog-size') ?? infoNumber(info, 'repl_backlog_size') ?? 0);
  return hard > 0 && isShared ? Math.max(hard, backlog) : hard;
}

/** The default in bytes: client-output-buffer-limit replica 256mb 64mb 60. */
const defaultHardLimit = 256 * 2 ** 20;

/**
 * A copy that is faster than this is not expected of any machine: the fork saves the data, the network transfers it, and
 * the target loads it.
 */
const bestBytesPerSecond = 500e6;

type Certainty = 'enough' | 'doubtful' | 'unknown' | 'hopeless';

/** Compares the bytes written during the copy with the output buffer limits. */
function estimateBuffer(
  hard: number,
  limit: OutputBufferLimit,
  copy: CopyEstimate,
  facts: RedisSourceFacts,
): { readonly wanted: number; readonly certainty: Certainty; readonly text: string } {
  const seconds = Math.ceil(copy.longest);
  const duration = `${formatBytes(copy.bytes)} to copy in ${Math.ceil(copy.shortest)} to ${seconds} s`;
  const rate = formatWriteRate(facts);
  const writes = facts.rate?.writes;
  if (writes === undefined) {
    const wanted = copy.bytes / 5;
    const certainty = hard === 0 || hard >= wanted ? 'enough' : 'unknown';
    const text = `${duration}; ${rate}; recommended limit: a fifth of the data, ${formatBytes(wanted)}.`;
    return { wanted, certainty, text };
  }
  const buffered = writes * seconds;
  // A measurement of one second with few writes proves little, so a limit below the default must be at least a fifth
  // of the data.
  const least = Math.min(copy.bytes / 5, defaultHardLimit);
  const calm = hard === 0 || hard >= least ? 'enough' : 'unknown';
  if (buffered === 0) {
    const text = `${duration}; ${rate}; recommended: ${formatBytes(least)}, limit: ${formatBytes(hard)}.`;
    return { wanted: least, certainty: calm, text };
  }
  // The soft limit ends the copy if the buffer exceeds it for longer than allowed. At this point the measured writes
  // are above zero.
  const isFullAfter = (copySeconds: number) =>
    (hard > 0 && writes * copySeconds > hard) || (limit.soft > 0 && copySeconds - limit.soft / writes > limit.seconds);
  const text = `${duration} x ${rate} = ${formatBytes(buffered)} buffered, limit: ${formatBytes(hard)}${
    limit.soft > 0 ? `, or ${formatBytes(limit.soft)} for ${limit.seconds} s` : ''
  }.`;
  // The recommended limit is three times the estimate, because the rate of the writes varies.
  const wanted = Math.max(buffered * 3, calm === 'enough' ? 0 : least);
  if (!isFullAfter(seconds)) return { wanted, certainty: calm, text };
  // A write rate measured as network traffic is only an upper bound, so it cannot prove that the limit is too low.
  const doubtful = calm === 'enough' ? 'doubtful' : calm;
  if (facts.rate?.source === 'network') return { wanted, certainty: doubtful, text };
  if (isFullAfter(copy.bytes / bestBytesPerSecond)) return { wanted, certainty: 'hopeless', text };
  return { wanted, certainty: isFullAfter(copy.shortest) ? 'unknown' : doubtful, text };
}
