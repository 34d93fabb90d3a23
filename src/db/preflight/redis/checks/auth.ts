import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import { type CheckOutcome, failOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { usesLoopback } from '../../network/evaluate.ts';
import { declareRedisCheck, redisMethods } from '../check.ts';
import { disconnectCodes, type RedisSourceFacts } from '../source.ts';

export const authCheck = declareRedisCheck({
  id: 'auth',
  title: 'the server accepts the user and the password',
  headline: 'The server does not accept the user or the password',
  needs: 'address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {},
  evaluate(_values, facts, options) {
    const { connection } = facts;
    if (connection.kind === 'refused') return refused(connection, facts.isUsernameUnused === true);
    const changed = refusedByProbe(facts);
    if (changed !== undefined) return changed;
    if (connection.auth === 'password') return passOutcome(`AUTH as ${facts.user}`);
    if (connection.auth === 'needless') {
      return failOutcome(redisMethods, `the server requires no password: ${connection.authReply ?? ''}`, {
        headline: 'A password is given, but the server has none',
        required: 'no password, because the server has none',
        detail: 'A replica with a password fails when AUTH is refused: `Unable to AUTH to MASTER: -ERR`.',
        fix: { text: 'Omit the password, or set it on the server (requirepass, or ACL SETUSER default).' },
      });
    }
    if (facts.isUsernameUnused === true) return usernameUnused();
    if (!options.isOverInternet || usesLoopback(facts.address)) {
      return passOutcome('the server requires no password');
    }
    return warnOutcome('the server requires no password', {
      headline: 'The server requires no password',
      required: 'a password',
      detail: 'Every client that reaches the port can read and delete all keys.',
      fix: {
        text: 'Set a password (CONFIG SET requirepass, or ACL SETUSER) before the port is opened to the internet.',
      },
    });
  },
});

/**
 * Called when the login succeeded, but the later login of the probe failed with the same password: the password was
 * changed between the two logins.
 */
function refusedByProbe({ probe }: RedisSourceFacts): CheckOutcome | undefined {
  if (probe?.kind !== 'refused' || (probe.code !== 'NOAUTH' && probe.code !== 'WRONGPASS')) return undefined;
  return failOutcome(redisMethods, probe.message, {
    required: 'AUTH is answered with OK',
    detail: 'The first connection was accepted and the next was not: the user or the password was changed in between.',
    fix: { text: fixText(probe.code, probe.message) },
  });
}

/** AUTH accepts a user name only together with a password, and so do masteruser and masterauth of a replica. */
function usernameUnused(): CheckOutcome {
  return warnOutcome('connected as default: the user name was given without a password', {
    headline: 'The user name is given without a password',
    required: 'the password of that user, or no user name',
    detail:
      'Without a password no AUTH is sent, neither here nor by the target, so all permissions are those of the user default.',
    fix: { text: passwordOfUser },
  });
}

/** The user name is not shown, because it may be the password. */
const passwordOfUser =
  'Give the password of that user with --password-stdin, REDISCLI_AUTH or in the URL (a user with nopass accepts any). If the user name is in fact the password, write redis://:PASSWORD@HOST.';

/** Describes every refusal of the login that no other check describes. */
function refused(
  connection: Extract<RedisSourceFacts['connection'], { kind: 'refused' }>,
  isUsernameUnused: boolean,
): CheckOutcome {
  const { phase, code, message } = connection;
  if (phase !== 'startup' || otherChecks.has(code))
    return skipOutcome(`the connection failed before the login was complete: ${message}`);
  return failOutcome(redisMethods, message, {
    required: 'AUTH is answered with OK',
    detail: `A replica fails again and again with \`Unexpected reply to PSYNC from master: -${message}\` or \`Unable to AUTH to MASTER\`.`,
    fix: { text: code === 'NOAUTH' && isUsernameUnused ? passwordOfUser : fixText(code, message) },
  });
}

const otherChecks: ReadonlySet<string> = new Set([
  'DENIED',
  clientErrorCodes.maxClients,
  clientErrorCodes.onlyTls,
  clientErrorCodes.protocol,
  clientErrorCodes.timeout,
  ...disconnectCodes,
  clientErrorCodes.aborted,
]);

function fixText(code: string, message: string): string {
  if (code === 'NOAUTH') return 'Give the password with --password-stdin, REDISCLI_AUTH or in the URL.';
  if (/wrong number of arguments/i.test(message)) {
    return 'Omit the user name and give the password alone: Redis before 6.0 has no users.';
  }
  if (/unknown command/i.test(message)) {
    return 'Remove the rename-command line for AUTH from redis.conf and restart: a migration cannot use another name.';
  }
  return 'Correct the user and the password: redis-cli --user USER --pass PASSWORD PING must reply PONG, and ACL LIST shows the users and whether they are on. A password without a user is written after a colon: redis://:PASSWORD@HOST.';
}
