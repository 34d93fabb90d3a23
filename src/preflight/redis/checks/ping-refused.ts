import { type Fix, fail, pass } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { configSetFix, redisAdministrator } from '../fixes.ts';
import { knownCommandsQuery } from '../queries/commands.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery } from '../query.ts';

export const pingRefusedCheck = redisCheck({
  id: 'ping-refused',
  title: 'PING is answered with PONG',
  needs: 'entry',
  mayBlock: ['continuous'],
  queries: { server: optionalQuery(infoQuery), listed: optionalQuery(knownCommandsQuery) },
  evaluate({ server, listed }, { connection: entry }) {
    const notice = entry.kind === 'entered' ? entry.notice : undefined;
    const isElsewhere = listed.kind === 'known' && !listed.value.has('ping');
    if (notice === undefined || passing.has(notice.code) || isElsewhere)
      return pass('PONG, or what a replica passes over');
    return fail(['continuous'], notice.message, {
      required: '+PONG',
      detail: `A replica greets with PING and takes no such answer: \`Error reply to PING from master: '-${notice.code} …'\`, again and again.${
        notice.code === 'MISCONF' ? ' Applications are refused every write with the same words.' : ''
      }`,
      fix: cure(notice, server.kind === 'known' ? server.value : new Map()),
    });
  },
});

/** A replica goes on after the first; the others have findings of their own. */
const passing: ReadonlySet<string> = new Set(['NOPERM', 'LOADING', 'BUSY', 'MASTERDOWN']);

function cure(
  { code, message }: { readonly code: string; readonly message: string },
  server: ReadonlyMap<string, string>,
): Fix {
  if (code !== 'MISCONF') {
    return {
      by: redisAdministrator,
      text: 'Look at the log of the server, or of the proxy before it: PING must be answered with PONG.',
    };
  }
  if (/\bAOF\b/.test(message)) {
    return {
      by: redisAdministrator,
      text: 'Free space on the disk of the append-only file, or give the server the right to write it: it tries again every second, and CONFIG GET dir shows where. INFO persistence must say aof_last_write_status:ok.',
    };
  }
  return configSetFix(
    'stop-writes-on-bgsave-error',
    'no',
    'yes',
    server,
    'Look at the log for the reason (a full disk, a folder that is not writable, a fork that failed) and repair it: after a BGSAVE that succeeds PING is answered again. Until then, let writes in although saving fails.',
  );
}
