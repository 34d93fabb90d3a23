import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import type { RedisInfo } from '../../../../redis/info.ts';
import { type CheckOutcome, failOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, type QueryResult, valueOr } from '../../query.ts';
import {
  configSetFix,
  declareRedisCheck,
  errorsToReplicas,
  isSentinel,
  outcomeWithoutValue,
  redisMethods,
  removeRenameFix,
  sendsErrorsToReplicas,
  sentinelReason,
} from '../check.ts';
import { commandsQuery, infoQuery, replicationQuery } from '../queries.ts';
import { disklessReplication, probeDescription, type RedisSourceFacts } from '../source.ts';

export const psyncCommandCheck = declareRedisCheck({
  id: 'psync-command',
  title: 'the server has the PSYNC command',
  headline: 'The server has no PSYNC command',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    commands: markOptional(commandsQuery),
    info: markOptional(infoQuery),
    settings: markOptional(replicationQuery),
  },
  evaluate({ commands, info, settings }, facts) {
    if (isSentinel(info)) return skipOutcome(sentinelReason);
    const names = valueOr(commands, undefined);
    if (names !== undefined && !names.has('ping') && (names.has('psync') || names.has('sync'))) return noPing(info);
    if (info.kind === 'missing') return noInfo(info);
    const isReplconfMissing =
      (names?.has('psync') === true && !names.has('replconf')) ||
      (facts.probe?.kind === 'accepted' && /unknown command/i.test(facts.probe.replconf ?? ''));
    if (isReplconfMissing && sendsErrorsToReplicas(valueOr(info, undefined))) return noReplconf(info);
    const probed = probeOutcome(facts);
    if (probed !== undefined) return probed;
    if (commands.kind !== 'known') return outcomeWithoutValue(commands);
    const { value } = commands;
    if (value.has('psync')) return passOutcome('PSYNC is available');
    if (value.has('sync')) {
      const knownInfo = valueOr(info, undefined);
      const { setting, isDiskless } = disklessReplication(settings, knownInfo);
      if (isDiskless) return streamMayNotStart(setting, info, knownInfo);
      return warnOutcome('PSYNC is not available, SYNC is', {
        required: 'PSYNC',
        detail: 'A replica falls back to SYNC: every interruption of the connection, however short, restarts the copy.',
        fix: removeRenameFix(['PSYNC'], info),
      });
    }
    const canScan = value.has('scan') && value.has('dump');
    const observed = canScan ? 'neither PSYNC nor SYNC' : 'neither PSYNC, SYNC nor SCAN with DUMP';
    return failOutcome(canScan ? ['continuous'] : redisMethods, observed, {
      required: 'PSYNC',
      detail: "The replica fails: `MASTER aborted replication with an error: ERR unknown command 'SYNC'`.",
      fix: removeRenameFix(['PSYNC', 'SYNC'], info),
    });
  },
});

/** A replica sends PING before PSYNC, and an unknown command is no valid reply to PING. */
function noPing(info: QueryResult<RedisInfo>): CheckOutcome {
  return failOutcome(['continuous'], 'PING is not available', {
    headline: 'The server has no PING command',
    required: 'PING',
    detail: "The replica sends PING, receives `unknown command 'PING'`, and its link stays down.",
    fix: removeRenameFix(['PING'], info),
  });
}

function noReplconf(info: QueryResult<RedisInfo>): CheckOutcome {
  return failOutcome(['continuous'], 'REPLCONF is not available', {
    headline: 'The server has no REPLCONF command',
    required: 'REPLCONF',
    detail: errorsToReplicas,
    fix: removeRenameFix(['REPLCONF'], info),
  });
}

function noInfo(info: QueryResult<RedisInfo>): CheckOutcome {
  return failOutcome(['continuous'], 'INFO is not available', {
    headline: 'The server has no INFO command',
    required: 'INFO',
    detail:
      'A migration reads the version, the databases and the progress of the source from INFO, and fails when INFO is not available.',
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
  return failOutcome(
    ['continuous'],
    `PSYNC is not available, SYNC is; repl-diskless-sync is ${setting ?? 'yes by default'}`,
    {
      required: 'PSYNC, or repl-diskless-sync no',
      detail:
        'A replica that uses SYNC confirms the copy only once. If the confirmation reaches the source before the source has noticed the end of the copy, the link is up and changes are never sent.',
      fix:
        setting === undefined || info === undefined
          ? removeRenameFix(['PSYNC'], result)
          : configSetFix(
              'repl-diskless-sync',
              'no',
              setting,
              info,
              'Copy through the disk: the replication stream then starts without a confirmation of the replica.',
            ),
    },
  );
}

/** The reply to a PSYNC that the preflight has sent (`--probe`) takes precedence over the list of known commands. */
function probeOutcome({ probe }: RedisSourceFacts): CheckOutcome | undefined {
  if (probe === undefined) return undefined;
  if (probe.kind === 'accepted') return passOutcome(`PSYNC was accepted: ${probe.reply}`, { detail: probeDescription });
  if (otherChecks.has(probe.code)) return undefined;
  return failOutcome(['continuous'], `PSYNC was refused: ${probe.message}`, {
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
  clientErrorCodes.maxClients,
]);
