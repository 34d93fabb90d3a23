import { infoNumber, type RedisInfo } from '../../../../redis/info.ts';
import { isAtLeast, parseServerVersion } from '../../../../redis/version.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, type QueryResult, valueOr } from '../../query.ts';
import {
  configSetFix,
  declareRedisCheck,
  isSentinel,
  markForReview,
  outcomeWithoutValue,
  redisMethods,
} from '../check.ts';
import { type ConfigValues, infoQuery, type ReplicationSetting, replicationQuery } from '../queries.ts';

export const roleReplicaSourceCheck = declareRedisCheck({
  id: 'role-replica',
  title: 'the source is a primary',
  headline: 'The source is not a primary',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    info: markOptional(infoQuery),
    settings: markOptional(replicationQuery),
  },
  evaluate({ info, settings }, { connection, probe }) {
    const refusesReads = connection.kind === 'connected' && connection.notice?.code === 'MASTERDOWN';
    const isLinkDown = refusesReads || (probe?.kind === 'refused' && probe.code === 'NOMASTERLINK');
    if (info.kind !== 'known' && !isLinkDown) return outcomeWithoutValue(info);
    // Only a replica replies with MASTERDOWN or NOMASTERLINK, so these errors identify a replica that refuses INFO.
    const fields: RedisInfo = valueOr(info, new Map([['role', 'slave']]));
    if (isSentinel(info)) return sentinel();
    if (fields.get('role') !== 'slave') return passOutcome('primary');
    const host = fields.get('master_host');
    const upstream = host === undefined ? 'another server' : `${host}:${fields.get('master_port') ?? '?'}`;
    if (fields.get('master_link_status') === 'up') {
      if (fields.get('slave_read_only') === '0') return writableReplica(fields, upstream);
      const silence = infoNumber(fields, 'master_last_io_seconds_ago') ?? 0;
      const period = pingPeriod(settings);
      if (silence > 2 * period) return silentPrimary(silence, period, upstream);
      return warnOutcome(`replica of ${upstream}`, {
        required: 'the primary',
        detail:
          'Replication from a replica works, but has a larger lag, and ends when that replica is promoted or loses its primary.',
        fix: { text: usePrimary(upstream) },
      });
    }
    return linkDown(fields, upstream, refusesReads);
  },
});

function usePrimary(upstream: string): string {
  return `Use the primary as the source: ${upstream}.`;
}

function sentinel(): CheckOutcome {
  return failOutcome(redisMethods, 'a Sentinel', {
    headline: 'The source is a Sentinel',
    required: 'the primary that the Sentinel monitors',
    detail: 'A Sentinel holds no data and has no PSYNC.',
    fix: {
      text: 'Get the address of the primary with SENTINEL GET-MASTER-ADDR-BY-NAME NAME, and use it as the source.',
    },
  });
}

function linkDown(info: RedisInfo, upstream: string, refusesReads: boolean): CheckOutcome {
  const since = info.get('master_link_down_since_seconds');
  const observed = `replica of ${upstream}, link down${since === undefined || since === '-1' ? '' : ` for ${since} s`}`;
  return failOutcome(refusesReads ? redisMethods : ['continuous'], observed, {
    required: 'the primary, or a replica that is connected to it',
    detail: `The target is refused: \`-NOMASTERLINK Can't SYNC while not connected with my master\`.${
      refusesReads
        ? ' Reads are refused too (replica-serve-stale-data no).'
        : ' A scan reads the data that the replica received before the interruption.'
    }`,
    fix: {
      text: `${usePrimary(upstream)} If the primary no longer exists, promote this replica with REPLICAOF NO ONE, but only when no application writes to the old primary any more.`,
    },
  });
}

/** Seconds between the pings of this server, which stand for those of its primary. */
function pingPeriod(settings: QueryResult<ConfigValues<ReplicationSetting>>): number {
  const values = valueOr(settings, undefined);
  return Number(values?.get('repl-ping-replica-period') ?? values?.get('repl-ping-slave-period') ?? 10);
}

/**
 * Only the primary at the top of a replica chain sends pings; when it is down, the replicas in between keep their links
 * up.
 */
function silentPrimary(seconds: number, period: number, upstream: string): CheckOutcome {
  return {
    ...unknownOutcome(`replica of ${upstream}, link up, no ping for ${seconds} s`, {
      text: `Use the primary as the source: ${upstream}, or the one above it that its INFO replication shows. If the primary no longer exists, promote another server first (REPLICAOF NO ONE).`,
    }),
    headline: 'Whether the primary of the source is up is not known',
    premise: 'the primary is up, and pings less often than this replica would',
    settledBy: 'the primary as --source, or --accept role-replica',
    required: `a ping of the primary every ${period} s (repl-ping-replica-period of this server)`,
    detail:
      'A primary sends pings to all replicas below it, as often as its own repl-ping-replica-period says. When it is down or cut off, the links below it stay up until repl-timeout: the target receives the present data but no change, and is later refused with `-NOMASTERLINK`.',
  };
}

/**
 * A replica forwards the stream of its primary, but not its own writes
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/replication/).
 */
function writableReplica(info: RedisInfo, upstream: string): CheckOutcome {
  return failOutcome(['continuous'], `replica of ${upstream} that accepts writes`, {
    required: 'the primary, or replica-read-only yes',
    detail:
      'Writes to this replica are not replicated: the target receives the writes that exist when the copy begins, and later only the writes of the primary. No client receives an error.',
    fix: markForReview(
      configSetFix(
        readOnlySetting(info),
        'yes',
        'no',
        info,
        `${usePrimary(upstream)} If no application writes to this replica, make it read-only; writes are then refused with READONLY.`,
      ),
    ),
  });
}

/** Redis before 5.0 has only the setting name with `slave`. */
function readOnlySetting(info: RedisInfo): string {
  const version = parseServerVersion(info);
  return version?.product === 'redis' && !isAtLeast(version, 5, 0) ? 'slave-read-only' : 'replica-read-only';
}
