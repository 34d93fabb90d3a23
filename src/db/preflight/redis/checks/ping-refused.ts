import { emptyRedisInfo, type RedisInfo } from '../../../../redis/info.ts';
import { type FindingFix, failOutcome, passOutcome } from '../../finding.ts';
import { getPreflightQueryValueOrDefault, markPreflightQueryOptional } from '../../query.ts';
import { declareRedisPreflightCheck } from '../check.ts';
import { buildRedisConfigSetFix, markRedisFixForReview, redisAdministratorText } from '../fixes.ts';
import { redisInfoQuery, redisKnownCommandsQuery } from '../queries.ts';

export const pingRefusedCheck = declareRedisPreflightCheck({
  id: 'ping-refused',
  title: 'the server replies to PING with PONG',
  headline: 'The server replies to PING with an error',
  needs: 'connection',
  severity: { continuous: 'blocker' },
  queries: {
    info: markPreflightQueryOptional(redisInfoQuery),
    commands: markPreflightQueryOptional(redisKnownCommandsQuery),
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
      fix: fixOf(notice, getPreflightQueryValueOrDefault(info, emptyRedisInfo)),
    });
  },
});

/** Errors in the reply to PING that this check ignores: a replica ignores NOPERM, and the others have checks of their own. */
const ignoredErrors: ReadonlySet<string> = new Set(['NOPERM', 'LOADING', 'BUSY', 'MASTERDOWN']);

function fixOf({ code, message }: { readonly code: string; readonly message: string }, info: RedisInfo): FindingFix {
  if (code !== 'MISCONF') {
    return {
      by: redisAdministratorText,
      text: 'Find the reason in the log of the server, or of the proxy in front of it: PING must be answered with PONG.',
    };
  }
  if (/\bAOF\b/.test(message)) {
    return {
      by: redisAdministratorText,
      text: 'Free disk space for the append-only file, or make its folder writable (CONFIG GET dir shows it). The server retries every second; INFO persistence must show aof_last_write_status:ok.',
    };
  }
  const allowWrites = buildRedisConfigSetFix(
    'stop-writes-on-bgsave-error',
    'no',
    'yes',
    info,
    'Find the reason in the server log (a full disk, a folder that is not writable, a failed fork) and correct it: PING succeeds after the next successful BGSAVE. Until then, writes can be allowed although saving fails; a crash then loses them.',
  );
  return markRedisFixForReview(allowWrites);
}
