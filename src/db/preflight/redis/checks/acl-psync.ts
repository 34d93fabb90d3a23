import { emptyInfo, type RedisInfo } from '../../../../redis/info.ts';
import { type CheckOutcome, type FindingFix, failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, type QueryResult, valueOr } from '../../query.ts';
import {
  aclGrantFix,
  commandPermission,
  declareRedisCheck,
  errorsToReplicas,
  isDenied,
  outcomeWithoutValue,
  predatesAcl,
  sendsErrorsToReplicas,
} from '../check.ts';
import {
  aclfileQuery,
  aclRulesQuery,
  type DryRunResult,
  dryRunQueries,
  infoQuery,
  replicationQuery,
} from '../queries.ts';
import { disklessReplication, type RedisSourceFacts } from '../source.ts';

export const aclPsyncCheck = declareRedisCheck({
  id: 'acl-psync',
  title: 'the user may run the replication commands',
  headline: 'The user may not run the replication commands',
  severity: { continuous: 'blocker' },
  queries: {
    psync: markOptional(dryRunQueries.psync),
    sync: markOptional(dryRunQueries.sync),
    replconf: markOptional(dryRunQueries.replconf),
    rules: markOptional(aclRulesQuery),
    file: markOptional(aclfileQuery),
    info: markOptional(infoQuery),
    settings: markOptional(replicationQuery),
  },
  evaluate({ psync: dryRun, sync, replconf, rules, file, info, settings }, facts) {
    const knownInfo = valueOr(info, undefined);
    const psync = probedPermission(facts) ?? commandPermission('psync', dryRun, rules);
    if (predatesAcl(info, psync))
      return passOutcome('Redis before 6.0 has no users: every client may run every command');
    const replconfPermission = commandPermission('replconf', replconf, rules);
    const mayReadInfo = info.kind !== 'denied';
    const grantFix = (names: readonly string[]) =>
      aclGrantFix({
        user: facts.user,
        names: [...names, ...(mayReadInfo ? [] : ['info'])],
        isGuessed: !mayReadInfo && psync.kind !== 'known',
        aclFile: valueOr(file, undefined)?.get('aclfile') ?? '',
        info: knownInfo ?? emptyInfo,
        text: 'Grant the user the replication commands, or use another user.',
      });
    const others = isDenied(probedReplconf(facts) ?? replconfPermission) ? ['replconf'] : [];
    if (isDenied(psync)) {
      const fix = grantFix(['psync', ...others, ...pingIfDenied(facts)]);
      const syncPermission = commandPermission('sync', sync, rules);
      // A replica that may not send REPLCONF never finishes a copy that it began with SYNC.
      const canFallBack =
        mayReadInfo && others.length === 0 && syncPermission.kind === 'known' && syncPermission.value.allowed;
      return canFallBack && !disklessReplication(settings, knownInfo).isDiskless
        ? syncOnly(psync, fix)
        : psyncDenied(psync, facts, fix);
    }
    if (!mayReadInfo) {
      return infoDenied(info, facts, grantFix(psync.kind === 'known' ? others : ['psync', 'replconf']));
    }
    if (psync.kind !== 'known') return outcomeWithoutValue(psync);
    return others.length === 0
      ? passOutcome(`${facts.user} may run PSYNC`)
      : replconfDenied(facts, knownInfo, grantFix(others));
  },
});

function psyncDenied(psync: QueryResult<DryRunResult>, facts: RedisSourceFacts, fix: FindingFix): CheckOutcome {
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
function syncOnly(psync: QueryResult<DryRunResult>, fix: FindingFix): CheckOutcome {
  return warnOutcome(denialOf(psync), {
    required: '+psync',
    detail: 'The replica falls back to SYNC: every interruption of the connection, however short, restarts the copy.',
    fix,
  });
}

function infoDenied({ reason }: { readonly reason: string }, facts: RedisSourceFacts, fix: FindingFix): CheckOutcome {
  return failOutcome(['continuous'], reason, {
    required: requiredRules(facts),
    detail:
      'A migration reads the version, the databases and the progress of the source from INFO, and fails when INFO is refused.',
    fix,
  });
}

function replconfDenied(facts: RedisSourceFacts, info: RedisInfo | undefined, fix: FindingFix): CheckOutcome {
  if (sendsErrorsToReplicas(info)) {
    return failOutcome(['continuous'], `${facts.user} may run PSYNC and not REPLCONF`, {
      required: '+replconf',
      detail: errorsToReplicas,
      fix,
    });
  }
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

function denialOf(psync: QueryResult<DryRunResult>): string {
  return psync.kind === 'known' ? psync.value.reply : psync.reason;
}

/** Only rules that are missing are granted, so that the undo script restores the previous rules. */
function pingIfDenied({ connection }: RedisSourceFacts): readonly string[] {
  return connection.kind === 'connected' && connection.notice?.code === 'NOPERM' ? ['ping'] : [];
}

function probedReplconf({ probe }: RedisSourceFacts): QueryResult<DryRunResult> | undefined {
  if (probe?.kind !== 'accepted') return undefined;
  const refusal = /^NOPERM (.*)/.exec(probe.replconf ?? '')?.[1];
  return { kind: 'known', value: { allowed: refusal === undefined, reply: refusal ?? 'OK' } };
}

function probedPermission({ probe }: RedisSourceFacts): QueryResult<DryRunResult> | undefined {
  if (probe?.kind === 'accepted') return { kind: 'known', value: { allowed: true, reply: 'OK' } };
  if (probe?.kind === 'refused' && probe.code === 'NOPERM') {
    return { kind: 'known', value: { allowed: false, reply: probe.message.replace(/^NOPERM /, '') } };
  }
  return undefined;
}
