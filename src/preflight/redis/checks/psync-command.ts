import { connectErrorCodes } from '../../../platform/connect-error.ts';
import type { RedisInfo } from '../../../redis/info.ts';
import { type CheckOutcome, fail, pass, skip, warn } from '../../finding.ts';
import { optionalQuery, type QueryResult, queryValueOr } from '../../query.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { usesDisklessSync } from '../diskless-sync.ts';
import { configSetFix, removeRenameFix } from '../fixes.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import { psyncProbeDescription } from '../probe-psync.ts';
import { knownCommandsQuery } from '../queries/commands.ts';
import { replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { isSentinel, sentinelReason } from '../sentinel.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const psyncCommandCheck = redisCheck({
  id: 'psync-command',
  title: 'the server has the PSYNC command',
  headline: 'The server has no PSYNC command',
  needs: 'connection',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    commands: optionalQuery(knownCommandsQuery),
    info: optionalQuery(infoQuery),
    settings: optionalQuery(replicationConfigQuery),
  },
  evaluate({ commands, info, settings }, facts) {
    if (isSentinel(info)) return skip(sentinelReason);
    const names = queryValueOr(commands, undefined);
    if (names !== undefined && !names.has('ping') && (names.has('psync') || names.has('sync'))) return noPing(info);
    if (info.kind === 'missing') return noInfo(info);
    const probed = probeOutcome(facts);
    if (probed !== undefined) return probed;
    if (commands.kind !== 'known') return outcomeWithoutResult(commands);
    const { value } = commands;
    if (value.has('psync')) return pass('PSYNC is available');
    if (value.has('sync')) {
      const knownInfo = queryValueOr(info, undefined);
      const { setting, isDiskless } = usesDisklessSync(settings, knownInfo);
      if (isDiskless) return streamMayNotStart(setting, info, knownInfo);
      return warn('PSYNC is not available, SYNC is', {
        required: 'PSYNC',
        detail: 'A replica falls back to SYNC: every interruption of the connection, however short, restarts the copy.',
        fix: removeRenameFix(['PSYNC'], info),
      });
    }
    const canScan = value.has('scan') && value.has('dump');
    const observed = canScan ? 'neither PSYNC nor SYNC' : 'neither PSYNC, SYNC nor SCAN with DUMP';
    return fail(canScan ? ['continuous'] : redisMethods, observed, {
      required: 'PSYNC',
      detail: "The replica fails: `MASTER aborted replication with an error: ERR unknown command 'SYNC'`.",
      fix: removeRenameFix(['PSYNC', 'SYNC'], info),
    });
  },
});

/** A replica sends PING before PSYNC, and an unknown command is no valid reply to PING. */
function noPing(info: QueryResult<RedisInfo>): CheckOutcome {
  return fail(['continuous'], 'PING is not available', {
    headline: 'The server has no PING command',
    required: 'PING',
    detail: "The replica sends PING, receives `unknown command 'PING'`, and its link stays down.",
    fix: removeRenameFix(['PING'], info),
  });
}

function noInfo(info: QueryResult<RedisInfo>): CheckOutcome {
  return fail(['continuous'], 'INFO is not available', {
    headline: 'The server has no INFO command',
    required: 'INFO',
    detail:
      'A migration reads the version, the databases and the progress of the source from INFO, and fails without it.',
    fix: removeRenameFix(['INFO'], info),
  });
}

/**
 * A replica that uses SYNC confirms the copy only once. After a diskless copy the confirmation may arrive before the
 * source has noticed the end of the copy: then the link is up, but the source never sends a change.
 */
function streamMayNotStart(
  setting: string | undefined,
  result: QueryResult<RedisInfo>,
  info: RedisInfo | undefined,
): CheckOutcome {
  return fail(['continuous'], `PSYNC is not available, SYNC is; repl-diskless-sync is ${setting ?? 'yes by default'}`, {
    required: 'PSYNC, or repl-diskless-sync no',
    detail:
      'A replica that uses SYNC confirms the copy only once. When that reaches the source before the source has noticed the end of the copy, the link is up and changes are never sent.',
    fix:
      setting === undefined || info === undefined
        ? removeRenameFix(['PSYNC'], result)
        : configSetFix(
            'repl-diskless-sync',
            'no',
            setting,
            info,
            'Copy through the disk: the stream then starts by itself.',
          ),
  });
}

/** The reply to PSYNC in a probe takes precedence over the list of commands. */
function probeOutcome({ probe }: RedisSourceFacts): CheckOutcome | undefined {
  if (probe === undefined) return undefined;
  if (probe.kind === 'accepted') return pass(`PSYNC was accepted: ${probe.reply}`, { detail: psyncProbeDescription });
  if (otherChecks.has(probe.code)) return undefined;
  return fail(['continuous'], `PSYNC was refused: ${probe.message}`, {
    headline: 'The server refuses PSYNC',
    required: '+FULLRESYNC',
    detail: 'The server will refuse PSYNC of the target in the same way.',
    fix: { text: 'Ask the operator of the server to allow external replicas; otherwise only a scan is possible.' },
  });
}

/** Error codes that another check reports, or that are temporary. */
const otherChecks: ReadonlySet<string> = new Set([
  'NOPERM',
  'NOAUTH',
  'WRONGPASS',
  'NOMASTERLINK',
  'MASTERDOWN',
  'LOADING',
  'BUSY',
  connectErrorCodes.maxClients,
]);
