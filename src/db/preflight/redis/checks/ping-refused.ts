import { emptyInfo, type RedisInfo } from '../../../../redis/info.ts';
import { type FindingFix, failOutcome, passOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { configSetFix, declareRedisCheck, markForReview, redisAdministrator } from '../check.ts';
import { commandsQuery, infoQuery } from '../queries.ts';

export const pingRefusedCheck = declareRedisCheck({
  id: 'ping-refused',
  title: 'the server replies to PING with PONG',
  headline: 'The server replies to PING with an error',
  severity: { continuous: 'blocker' },
  queries: {
    info: markOptional(infoQuery),
    commands: markOptional(commandsQuery),
  },
  evaluate({ info, commands }, { connection }) {
    const notice = connection.kind === 'connected' ? connection.notice : undefined;
    const isRenamed = commands.kind === 'known' && !commands.value.has('ping');
    if (notice === undefined || ignoredErrors.has(notice.code) || isRenamed) {
      return passOutcome('PONG, or an error that a replica ignores');
    }
    return failOutcome(['continuous'], notice.message, {
      required: '+PONG',
      detail: `A replica sends PING first and does not accept this error as the reply: \`Error reply to PING from master: '-${notice.code} …'\`. The replica retries without end.${
        notice.code === 'MISCONF' ? ' Every write of an application is refused with the same error.' : ''
      }`,
      fix: fixOf(notice, valueOr(info, emptyInfo)),
    });
  },
});

/** Errors in the reply to PING that this check ignores: a replica ignores NOPERM, and the others have checks of their own. */
const ignoredErrors: ReadonlySet<string> = new Set(['NOPERM', 'LOADING', 'BUSY', 'MASTERDOWN']);

function fixOf({ code, message }: { readonly code: string; readonly message: string }, info: RedisInfo): FindingFix {
  if (code !== 'MISCONF') {
    return {
      by: redisAdministrator,
      text: 'Find the reason in the log of the server, or of the proxy in front of it: PING must be answered with PONG.',
    };
  }
  if (/\bAOF\b/.test(message)) {
    return {
      by: redisAdministrator,
      text: 'Free disk space for the append-only file, or make its folder writable (CONFIG GET dir shows it). The server retries every second; INFO persistence must show aof_last_write_status:ok.',
    };
  }
  const allowWrites = configSetFix(
    'stop-writes-on-bgsave-error',
    'no',
    'yes',
    info,
    'Find the reason in the server log (a full disk, a folder that is not writable, a failed fork) and correct it: PING succeeds after the next successful BGSAVE. Until then, writes can be allowed although saving fails; a crash then loses them.',
  );
  return markForReview(allowWrites);
}
