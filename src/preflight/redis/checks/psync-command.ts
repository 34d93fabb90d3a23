import { connectErrorCodes } from '../../../platform/connect-error.ts';
import type { RedisInfo } from '../../../redis/info.ts';
import { type CheckOutcome, type Fix, fail, pass, skip, warn } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { disklessSyncOf } from '../diskless-sync.ts';
import { unansweredOutcome } from '../findings.ts';
import { configSetFix } from '../fixes.ts';
import { psyncProbeDescription } from '../probe-psync.ts';
import { knownCommandsQuery } from '../queries/commands.ts';
import { replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, type RedisQueryResult } from '../query.ts';
import { isSentinel, sentinelReason } from '../sentinel.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const psyncCommandCheck = redisCheck({
  id: 'psync-command',
  title: 'the server has PSYNC',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: {
    known: optionalQuery(knownCommandsQuery),
    server: optionalQuery(infoQuery),
    settings: optionalQuery(replicationConfigQuery),
  },
  evaluate({ known, server, settings }, ground) {
    if (isSentinel(server)) return skip(sentinelReason);
    if (known.kind === 'known' && !known.value.has('ping') && copies.some((name) => known.value.has(name))) {
      return noPing(server);
    }
    if (server.kind === 'missing') return noInfo(server);
    const tried = byProbe(ground);
    if (tried !== undefined) return tried;
    if (known.kind !== 'known') return unansweredOutcome(known);
    const { value } = known;
    const canScan = value.has('scan') && value.has('dump');
    if (value.has('psync')) return pass('PSYNC is there');
    if (value.has('sync')) {
      const facts = server.kind === 'known' ? server.value : undefined;
      const { setting: told, isDiskless } = disklessSyncOf(settings, facts);
      if (isDiskless) return silentStream(told, server, facts);
      return warn('PSYNC is not there, SYNC is', {
        required: 'PSYNC',
        detail: 'A replica falls back to SYNC: every break of the connection, however short, copies everything again.',
        fix: removeRenameFix(['PSYNC'], server),
      });
    }
    return fail(
      canScan ? ['continuous'] : redisMethods,
      canScan ? 'neither PSYNC nor SYNC' : 'neither PSYNC, SYNC nor SCAN with DUMP',
      {
        required: 'PSYNC',
        detail: "The replica gives up: `MASTER aborted replication with an error: ERR unknown command 'SYNC'`.",
        fix: removeRenameFix(['PSYNC', 'SYNC'], server),
      },
    );
  },
});

const copies = ['psync', 'sync'];

/** A replica says PING before anything else, and takes no unknown command for an answer. */
function noPing(server: RedisQueryResult<RedisInfo>): CheckOutcome {
  return fail(['continuous'], 'PING is not there', {
    required: 'PING',
    detail: 'The replica greets with PING, is told "unknown command \'PING\'", and its link stays down for ever.',
    fix: removeRenameFix(['PING'], server),
  });
}

/** Whoever migrates looks at both sides by INFO all the time. */
function noInfo(server: RedisQueryResult<RedisInfo>): CheckOutcome {
  return fail(['continuous'], 'INFO is not there', {
    required: 'INFO',
    detail: 'A migration reads version, databases and progress of the source by INFO, and ends when that is unknown.',
    fix: removeRenameFix(['INFO'], server),
  });
}

/**
 * A replica that came by SYNC confirms its copy once. Where the source sends it without the disk, that may be a moment too early:
 * then the link is up, and nothing that is written ever comes.
 */
function silentStream(
  told: string | undefined,
  server: RedisQueryResult<RedisInfo>,
  facts: RedisInfo | undefined,
): CheckOutcome {
  const text = 'Copies over the disk begin to stream by themselves.';
  return fail(['continuous'], `PSYNC is not there, SYNC is; repl-diskless-sync is ${told ?? 'yes by default'}`, {
    required: 'PSYNC, or repl-diskless-sync no',
    detail:
      'A replica that came by SYNC confirms its copy once only. When that reaches the source before it has seen the copy end, the link is up and the changes never come.',
    fix:
      told === undefined || facts === undefined
        ? removeRenameFix(['PSYNC'], server)
        : configSetFix('repl-diskless-sync', 'no', told, facts, text),
  });
}

/** What the server did when it was really asked is worth more than what it lists. */
function byProbe({ probe }: RedisSourceFacts): CheckOutcome | undefined {
  if (probe === undefined) return undefined;
  if (probe.kind === 'accepted') return pass(`PSYNC was accepted: ${probe.reply}`, { detail: psyncProbeDescription });
  if (judgedElsewhere.has(probe.code)) return undefined;
  return fail(['continuous'], `PSYNC was refused: ${probe.message}`, {
    required: '+FULLRESYNC',
    detail: 'The target gets the same answer.',
    fix: { text: 'Ask who runs the server to allow replication to the outside; otherwise only a scan is left.' },
  });
}

/** Rights, a lost primary and what passes have findings of their own. */
const judgedElsewhere: ReadonlySet<string> = new Set([
  'NOPERM',
  'NOAUTH',
  'WRONGPASS',
  'NOMASTERLINK',
  'MASTERDOWN',
  'LOADING',
  'BUSY',
  connectErrorCodes.maxClients,
]);

/** The names are read at start alone. */
export function removeRenameFix(names: readonly string[], server: RedisQueryResult<RedisInfo>): Fix {
  const told = server.kind === 'known' ? server.value.get('config_file') : undefined;
  const file = told === undefined || told === '' ? '/etc/redis/redis.conf' : told;
  return {
    shell: [
      `cp -np ${file} ${file}.before-migration`,
      ...names.map((name) => `sed -i '/^ *rename-command  *${name} /Id' ${file}`),
    ],
    undoShell: [`cp -p ${file}.before-migration ${file}`],
    restart: true,
    text: `Take the line that renames ${names.join(' and ')} out of redis.conf (rename-command) and restart; of a provider, ask for replication to the outside. Otherwise only a scan is left.`,
  };
}
