import { infoNumber, type RedisInfo } from '../../../redis/info.ts';
import { isVersionAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type CheckOutcome, fail, pass, warn } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { configSetFix } from '../fixes.ts';
import { type RedisConfigValues, replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, type RedisQueryResult, resultOr } from '../query.ts';
import { isSentinel } from '../sentinel.ts';

export const roleReplicaCheck = redisCheck({
  id: 'role-replica',
  title: 'the source is a primary',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: { told: optionalQuery(infoQuery), settings: optionalQuery(replicationConfigQuery) },
  evaluate({ told, settings }, { connection: entry, probe }) {
    const isMute = entry.kind === 'entered' && entry.notice?.code === 'MASTERDOWN';
    const isCut = isMute || (probe?.kind === 'refused' && probe.code === 'NOMASTERLINK');
    if (told.kind !== 'known' && !isCut) return unansweredOutcome(told);
    // It said so itself, whether INFO may be asked or not.
    const server = resultOr(told, new Map([['role', 'slave']]));
    if (isSentinel(told)) {
      return fail(redisMethods, 'a Sentinel', {
        required: 'the primary it watches',
        detail: 'A Sentinel holds no data and knows no PSYNC.',
        fix: { text: 'Ask it for the primary: SENTINEL GET-MASTER-ADDR-BY-NAME NAME, and give that address.' },
      });
    }
    if (server.get('role') !== 'slave') return pass('primary');
    const host = server.get('master_host');
    const upstream = host === undefined ? 'another server' : `${host}:${server.get('master_port') ?? '?'}`;
    const fix = { text: `Give the primary as the source: ${upstream}.` };
    if (server.get('master_link_status') === 'up') {
      const silence = silenceOf(server, settings);
      if (silence !== undefined) return silent(silence, upstream);
      if (server.get('slave_read_only') === '0') return writable(server, upstream);
      return warn(`replica of ${upstream}`, {
        required: 'the primary',
        detail:
          'A chain of replicas works, lags more, and ends when the one in the middle is promoted or loses its primary.',
        fix,
      });
    }
    const since = server.get('master_link_down_since_seconds');
    const observed = `replica of ${upstream}, link down${since === undefined || since === '-1' ? '' : ` for ${since} s`}`;
    return fail(isMute ? redisMethods : ['continuous'], observed, {
      required: 'the primary, or a replica that is connected to it',
      detail: `The target is refused: \`-NOMASTERLINK Can't SYNC while not connected with my master\`.${
        isMute
          ? ' Reads are refused too (replica-serve-stale-data no).'
          : ' What a scan would read is as old as the break.'
      }`,
      fix: {
        text: `${fix.text} If it is gone for good, REPLICAOF NO ONE makes this one the primary: send it only when nothing writes to the old one any more.`,
      },
    });
  },
});

/** Seconds without a word of the primary, when they are more than two of its pings apart. */
function silenceOf(server: RedisInfo, settings: RedisQueryResult<RedisConfigValues>): number | undefined {
  const heard = infoNumber(server, 'master_last_io_seconds_ago') ?? 0;
  const own = resultOr<RedisConfigValues, undefined>(settings, undefined);
  const period = Number(own?.get('repl-ping-replica-period') ?? own?.get('repl-ping-slave-period') ?? 10);
  return heard > 2 * period ? heard : undefined;
}

/** Only the primary on top pings, and those in between keep their links up to those below when it has gone. */
function silent(seconds: number, upstream: string): CheckOutcome {
  return fail(['continuous'], `replica of ${upstream}, link up, and nothing heard for ${seconds} s`, {
    required: 'a primary that is heard every 10 s (repl-ping-replica-period)',
    detail:
      'The primary at the top of the chain pings all replicas below it. When it is gone, the links below stay up until repl-timeout: the target gets what is here and nothing after it, and is then refused with `-NOMASTERLINK`. A scan reads what is as old as the break.',
    fix: {
      text: `Give the primary at the top as the source: INFO replication of ${upstream} shows whom it follows itself. If that is gone for good, make another one the primary first (REPLICAOF NO ONE).`,
    },
  });
}

/** It passes the stream of its primary on, and nothing of its own (https://redis.io/docs/latest/operate/oss_and_stack/management/replication/). */
function writable(server: RedisInfo, upstream: string): CheckOutcome {
  return fail(['continuous'], `replica of ${upstream} that takes writes`, {
    required: 'the primary, or replica-read-only yes',
    detail:
      'What is written to this replica stays on it: the target gets what is there when the copy begins, and of later writes only those of the primary, without an error to anybody.',
    fix: configSetFix(
      settingName(server),
      'yes',
      'no',
      server,
      `Give the primary as the source: ${upstream}. If no application writes to this replica, make it read-only; one that does is then told READONLY.`,
    ),
  });
}

/** The name of before 5.0, where the new one is not known. */
function settingName(server: RedisInfo): string {
  const version = parseServerVersion(server);
  return version?.product === 'redis' && !isVersionAtLeast(version, 5, 0) ? 'slave-read-only' : 'replica-read-only';
}
