import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { type CheckOutcome, type Fix, fail, pass, skip } from '../../finding.ts';
import { serverCheck } from '../check.ts';

export const replConnectionCheck = serverCheck({
  id: 'repl-connection',
  title: 'the role can open a replication connection',
  headline: 'The role cannot open a replication connection',
  severity: { continuous: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: {},
  evaluate(_values, { replication, username }): CheckOutcome {
    if (replication === undefined) return skip('no replication connection was tried');
    if (replication.kind === 'entered') return pass('IDENTIFY_SYSTEM is answered');
    const { code, message } = replication;
    return fail(['continuous'], message, { required: 'a walsender', ...replicationCure(code, username) });
  },
});

function replicationCure(code: string, username: string): { readonly detail: string; readonly fix: Fix } {
  const role = quoteIdentifier(username);
  switch (code) {
    case '42501':
      return {
        detail: 'The subscription of the target logs in like this and would be refused with the same words.',
        fix: {
          sql: [`ALTER ROLE ${role} REPLICATION`],
          undo: [`ALTER ROLE ${role} NOREPLICATION`],
          text: `Give the role REPLICATION (on Amazon RDS: GRANT rds_replication TO ${role}).`,
        },
      };
    case '53300':
      return {
        detail: 'Every walsender is taken.',
        fix: { text: 'Raise max_wal_senders (restart), or end replication connections that nobody needs.' },
      };
    case '08P01':
      return {
        detail: 'Something between here and the server does not know replication connections: a pooler.',
        fix: { text: 'Use the address and port of the server itself.' },
      };
    default:
      return {
        detail: `The subscription of the target logs in like this and would be refused as well (${code}).`,
        fix: {
          text: 'Let this user replicate: REPLICATION, a walsender that is free (max_wal_senders), a host rule for its databases.',
        },
      };
  }
}
