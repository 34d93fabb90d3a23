import type { RedisInfo } from '../../../redis/info.ts';
import { type CheckOutcome, type Fix, fail, pass, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { commandPermission, isBeforeAcl, isDenied } from '../command-permission.ts';
import { disklessSyncOf } from '../diskless-sync.ts';
import { unansweredOutcome } from '../findings.ts';
import { aclGrantFix } from '../fixes.ts';
import {
  type AclDryRunResult,
  aclUserRulesQuery,
  psyncDryRunQuery,
  replconfDryRunQuery,
  syncDryRunQuery,
} from '../queries/acl.ts';
import { aclfileConfigQuery, replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, type RedisQueryResult, resultOr as valueOr } from '../query.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const aclPsyncCheck = redisCheck({
  id: 'acl-psync',
  title: 'the user may ask for replication',
  needs: 'entry',
  mayBlock: ['continuous'],
  queries: {
    psync: optionalQuery(psyncDryRunQuery),
    sync: optionalQuery(syncDryRunQuery),
    replconf: optionalQuery(replconfDryRunQuery),
    rules: optionalQuery(aclUserRulesQuery),
    file: optionalQuery(aclfileConfigQuery),
    server: optionalQuery(infoQuery),
    settings: optionalQuery(replicationConfigQuery),
  },
  evaluate({ psync: tried, sync, replconf, rules, file, server, settings }, ground) {
    const facts = valueOr<RedisInfo, undefined>(server, undefined);
    const psync = probed(ground) ?? commandPermission('psync', tried, rules);
    if (isBeforeAcl(server, psync)) return pass('the server knows no users: who is in may do everything');
    const acknowledging = commandPermission('replconf', replconf, rules);
    const isInformed = server.kind !== 'denied';
    const cure = (names: readonly string[]) =>
      aclGrantFix({
        user: ground.user,
        names: [...names, ...(isInformed ? [] : ['info'])],
        isGuessed: !isInformed && psync.kind !== 'known',
        aclFile: valueOr(file, new Map<string, string>()).get('aclfile') ?? '',
        info: facts ?? new Map(),
        text: 'Let the user replicate, or give another user.',
      });
    const others = isDenied(acknowledging) ? ['replconf'] : [];
    if (isDenied(psync)) {
      const fix = cure(['psync', ...others, ...pingOf(ground)]);
      const falling = commandPermission('sync', sync, rules);
      // Without REPLCONF it never takes the copy of a SYNC to its end.
      const isFalling = isInformed && others.length === 0 && falling.kind === 'known' && falling.value.allowed;
      return isFalling && !disklessSyncOf(settings, facts).isDiskless
        ? bySync(psync, fix)
        : refused(psync, ground, fix);
    }
    if (!isInformed) {
      return unwatched(server, ground, cure(psync.kind === 'known' ? others : ['psync', 'replconf']));
    }
    if (psync.kind !== 'known') return unansweredOutcome(psync);
    return others.length === 0 ? pass(`${ground.user} may PSYNC`) : limping(ground, cure(others));
  },
});

function refused(psync: RedisQueryResult<AclDryRunResult>, ground: RedisSourceFacts, fix: Fix): CheckOutcome {
  const words = wordsOf(psync);
  return fail(['continuous'], words, {
    required: requiredOf(ground),
    detail: `The replica is refused: \`-NOPERM ${words}\`.`,
    fix,
  });
}

/** The same as where PSYNC is not there: with a copy over the disk the stream begins, without it may stay silent. */
function bySync(psync: RedisQueryResult<AclDryRunResult>, fix: Fix): CheckOutcome {
  return warn(wordsOf(psync), {
    required: '+psync',
    detail: 'A replica falls back to SYNC: every break of the connection, however short, copies everything again.',
    fix,
  });
}

/** Whoever migrates looks at both sides all the time. */
function unwatched({ reason }: { readonly reason: string }, ground: RedisSourceFacts, fix: Fix): CheckOutcome {
  return fail(['continuous'], reason, {
    required: requiredOf(ground),
    detail: 'A migration reads version, databases and progress of the source by INFO, and ends when that is refused.',
    fix,
  });
}

function limping(ground: RedisSourceFacts, fix: Fix): CheckOutcome {
  return warn(`${ground.user} may PSYNC and not REPLCONF`, {
    required: '+replconf',
    detail:
      "The copy runs, and then the source cuts the connection every second, at each acknowledgement: `Replica generated a reply to command 'replconf', disconnecting it`. The stream limps from reconnect to reconnect.",
    fix,
  });
}

function requiredOf({ user }: RedisSourceFacts): string {
  return `+psync +replconf +ping +info for ${user}`;
}

function wordsOf(psync: RedisQueryResult<AclDryRunResult>): string {
  return psync.kind === 'known' ? psync.value.reply : psync.reason;
}

/** Only what is missing is granted, so that taking it back restores what was. */
function pingOf({ connection: entry }: RedisSourceFacts): readonly string[] {
  return entry.kind === 'entered' && entry.notice?.code === 'NOPERM' ? ['ping'] : [];
}

function probed({ probe }: RedisSourceFacts): RedisQueryResult<AclDryRunResult> | undefined {
  if (probe?.kind === 'accepted') return { kind: 'known', value: { allowed: true, reply: 'OK' } };
  if (probe?.kind === 'refused' && probe.code === 'NOPERM') {
    return { kind: 'known', value: { allowed: false, reply: probe.message.replace(/^NOPERM /, '') } };
  }
  return undefined;
}
