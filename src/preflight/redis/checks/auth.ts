import { connectErrorCodes } from '../../../platform/connect-error.ts';
import { type CheckOutcome, fail, pass, skip, warn } from '../../finding.ts';
import { isConnectedOverLoopback } from '../../network/evaluate-host.ts';
import { redisCheck, redisMethods } from '../check.ts';
import type { RedisSourceFacts } from '../source-facts.ts';
import { disconnectCodes } from './redis-connect.ts';

export const authCheck = redisCheck({
  id: 'auth',
  title: 'user and password are right',
  needs: 'address',
  mayBlock: redisMethods,
  queries: {},
  evaluate(_values, ground, wish) {
    const { connection: entry } = ground;
    if (entry.kind === 'refused') return refused(entry, ground.isUsernameUnused === true);
    const again = shutOut(ground);
    if (again !== undefined) return again;
    if (entry.auth === 'password') return pass(`AUTH as ${ground.user}`);
    if (entry.auth === 'needless') {
      return fail(redisMethods, `the server has no password: ${entry.authReply ?? ''}`, {
        required: 'no password, as the server has none',
        detail: 'A replica that is told a password gives up when it is refused: `Unable to AUTH to MASTER: -ERR`.',
        fix: { text: 'Leave the password out, or set it on the server (requirepass, or ACL SETUSER default).' },
      });
    }
    if (ground.isUsernameUnused === true) return unnamed();
    if (!wish.asPublic || isConnectedOverLoopback(ground.address)) return pass('the server asks for no password');
    return warn('the server asks for no password', {
      required: 'a password',
      detail: 'Whoever reaches the port reads and deletes everything.',
      fix: {
        text: 'Set a password (CONFIG SET requirepass, or ACL SETUSER) before the port is opened to the internet.',
      },
    });
  },
});

/** Let in once, and not when the probe came with the same words: somebody changed the password meanwhile. */
function shutOut({ probe }: RedisSourceFacts): CheckOutcome | undefined {
  if (probe?.kind !== 'refused' || (probe.code !== 'NOAUTH' && probe.code !== 'WRONGPASS')) return undefined;
  return fail(redisMethods, probe.message, {
    required: 'AUTH that is answered with OK',
    detail: 'The first connection was let in and the next one was not: user or password were changed in between.',
    fix: { text: cure(probe.code, probe.message) },
  });
}

/** AUTH takes a name with a password only, and so do masteruser and masterauth of a replica. */
function unnamed(): CheckOutcome {
  return warn('entered as default: a user name was given without a password', {
    required: 'the password of that user, or no name',
    detail: `Without a password nobody says AUTH, here or from the target, so every right was judged for the user default.`,
    fix: { text: passwordOfUser },
  });
}

/** The name is not shown: it may be the password. */
const passwordOfUser =
  'Give the password of the user you named: --password-stdin, REDISCLI_AUTH, or in the URL (of a user with nopass any will do). If what you gave as the user is the password itself, write redis://:PASSWORD@HOST.';

/** Everything that is said to us at the door and has no check of its own. */
function refused(
  entry: Extract<RedisSourceFacts['connection'], { kind: 'refused' }>,
  isNameIdle: boolean,
): CheckOutcome {
  const elsewhere = entry.phase !== 'startup' || otherChecks.has(entry.code);
  if (elsewhere) return skip(`it did not come to that: ${entry.message}`);
  return fail(redisMethods, entry.message, {
    required: 'AUTH that is answered with OK',
    detail: `A replica would log \`Unexpected reply to PSYNC from master: -${entry.message}\` or \`Unable to AUTH to MASTER\`, again and again.`,
    fix: { text: entry.code === 'NOAUTH' && isNameIdle ? passwordOfUser : cure(entry.code, entry.message) },
  });
}

const otherChecks: ReadonlySet<string> = new Set([
  'DENIED',
  connectErrorCodes.maxClients,
  connectErrorCodes.onlyTls,
  connectErrorCodes.protocol,
  connectErrorCodes.timeout,
  ...disconnectCodes,
  connectErrorCodes.aborted,
]);

function cure(code: string, message: string): string {
  if (code === 'NOAUTH') {
    return 'Give the password: --password-stdin, REDISCLI_AUTH, or in the URL.';
  }
  if (/wrong number of arguments/i.test(message)) {
    return 'Redis before 6.0 knows no users: leave the user name out and give the password alone.';
  }
  if (/unknown command/i.test(message)) {
    return 'AUTH was renamed on the server (rename-command), which a migration cannot follow: take the line out and restart.';
  }
  return 'Correct user and password. redis-cli --user USER --pass PASSWORD PING must answer PONG; ACL LIST shows the users and whether they are on. A password without a user stands behind a colon: redis://:PASSWORD@HOST.';
}
