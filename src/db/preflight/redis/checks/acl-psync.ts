import { emptyRedisInfo } from '../../../../redis/info.ts';
import { type FindingFix, failOutcome, type PreflightCheckOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { getPreflightQueryValueOrDefault, markPreflightQueryOptional, type PreflightQueryResult } from '../../query.ts';
import { declareRedisPreflightCheck } from '../check.ts';
import {
  buildRedisOutcomeWithoutQueryResult,
  getRedisCommandPermission,
  isRedisCommandDenied,
  isRedisOlderThanAcl,
} from '../commands.ts';
import { buildRedisAclGrantFix } from '../fixes.ts';
import { getRedisDisklessReplication } from '../memory.ts';
import {
  type RedisAclDryRunResult,
  redisAclDryRunQueries,
  redisAclfileConfigQuery,
  redisAclUserRulesQuery,
  redisInfoQuery,
  redisReplicationConfigQuery,
} from '../queries.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const aclPsyncCheck = declareRedisPreflightCheck({
  id: 'acl-psync',
  title: 'the user may run the replication commands',
  headline: 'The user may not run the replication commands',
  needs: 'connection',
  severity: { continuous: 'blocker' },
  queries: {
    psync: markPreflightQueryOptional(redisAclDryRunQueries.psync),
    sync: markPreflightQueryOptional(redisAclDryRunQueries.sync),
    replconf: markPreflightQueryOptional(redisAclDryRunQueries.replconf),
    rules: markPreflightQueryOptional(redisAclUserRulesQuery),
    file: markPreflightQueryOptional(redisAclfileConfigQuery),
    info: markPreflightQueryOptional(redisInfoQuery),
    settings: markPreflightQueryOptional(redisReplicationConfigQuery),
  },
  evaluate({ psync: dryRun, sync, replconf, rules, file, info, settings }, facts) {
    const knownInfo = getPreflightQueryValueOrDefault(info, undefined);
    const psync = probedPermission(facts) ?? getRedisCommandPermission('psync', dryRun, rules);
    if (isRedisOlderThanAcl(info, psync))
      return passOutcome('Redis before 6.0 has no users: every client may run every command');
    const replconfPermission = getRedisCommandPermission('replconf', replconf, rules);
    const mayReadInfo = info.kind !== 'denied';
    const grantFix = (names: readonly string[]) =>
      buildRedisAclGrantFix({
        user: facts.user,
        names: [...names, ...(mayReadInfo ? [] : ['info'])],
        isGuessed: !mayReadInfo && psync.kind !== 'known',
        aclFile: getPreflightQueryValueOrDefault(file, undefined)?.get('aclfile') ?? '',
        info: knownInfo ?? emptyRedisInfo,
        text: 'Grant the user the replication commands, or use another user.',
      });
    const others = isRedisCommandDenied(replconfPermission) ? ['replconf'] : [];
    if (isRedisCommandDenied(psync)) {
      const fix = grantFix(['psync', ...others, ...pingIfDenied(facts)]);
      const syncPermission = getRedisCommandPermission('sync', sync, rules);
      // A replica that may not send REPLCONF never finishes a copy that it began with SYNC.
      const canFallBack =
        mayReadInfo && others.length === 0 && syncPermission.kind === 'known' && syncPermission.value.allowed;
      return canFallBack && !getRedisDisklessReplication(settings, knownInfo).isDiskless
        ? syncOnly(psync, fix)
        : psyncDenied(psync, facts, fix);
    }
    if (!mayReadInfo) {
      return infoDenied(info, facts, grantFix(psync.kind === 'known' ? others : ['psync', 'replconf']));
    }
    if (psync.kind !== 'known') return buildRedisOutcomeWithoutQueryResult(psync);
    return others.length === 0 ? passOutcome(`${facts.user} may run PSYNC`) : replconfDenied(facts, grantFix(others));
  },
});

function psyncDenied(
  psync: PreflightQueryResult<RedisAclDryRunResult>,
  facts: RedisSourceFacts,
  fix: FindingFix,
): PreflightCheckOutcome {
  const message = denialOf(psync);
  return failOutcome(['continuous'], message, {
    required: requiredRules(facts),
    detail: `The replica is refused: \`-NOPERM ${message}\`.`,
    fix,
  });
}

/**
 * Without PSYNC a replica uses SYNC: the replication stream follows a copy through the disk, but may not follow a
 * diskless copy.
 */
function syncOnly(psync: PreflightQueryResult<RedisAclDryRunResult>, fix: FindingFix): PreflightCheckOutcome {
  return warnOutcome(denialOf(psync), {
    required: '+psync',
    detail: 'The replica falls back to SYNC: every interruption of the connection, however short, restarts the copy.',
    fix,
  });
}

function infoDenied(
  { reason }: { readonly reason: string },
  facts: RedisSourceFacts,
  fix: FindingFix,
): PreflightCheckOutcome {
  return failOutcome(['continuous'], reason, {
    required: requiredRules(facts),
    detail:
      'A migration reads the version, the databases and the progress of the source from INFO, and fails when INFO is refused.',
    fix,
  });
}

function replconfDenied(facts: RedisSourceFacts, fix: FindingFix): PreflightCheckOutcome {
  return warnOutcome(`${facts.user} may run PSYNC and not REPLCONF`, {
    required: '+replconf',
    detail:
      "The copy succeeds. After the copy the source closes the connection of the replica at each acknowledgement, every second: `Replica generated a reply to command 'replconf', disconnecting it`.",
    fix,
  });
}

function requiredRules({ user }: RedisSourceFacts): string {
  return `+psync +replconf +ping +info for ${user}`;
}

function denialOf(psync: PreflightQueryResult<RedisAclDryRunResult>): string {
  return psync.kind === 'known' ? psync.value.reply : psync.reason;
}

/** Only rules that are missing are granted, so that the undo script restores the previous rules. */
function pingIfDenied({ connection }: RedisSourceFacts): readonly string[] {
  return connection.kind === 'connected' && connection.notice?.code === 'NOPERM' ? ['ping'] : [];
}

function probedPermission({ probe }: RedisSourceFacts): PreflightQueryResult<RedisAclDryRunResult> | undefined {
  if (probe?.kind === 'accepted') return { kind: 'known', value: { allowed: true, reply: 'OK' } };
  if (probe?.kind === 'refused' && probe.code === 'NOPERM') {
    return { kind: 'known', value: { allowed: false, reply: probe.message.replace(/^NOPERM /, '') } };
  }
  return undefined;
}
