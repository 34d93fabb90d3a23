import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import {
  type CheckOutcome,
  type FindingFix,
  failOutcome,
  passOutcome,
  roleEffect,
  skipOutcome,
} from '../../finding.ts';
import { declareServerCheck } from '../check.ts';

export const replConnectionCheck = declareServerCheck({
  id: 'repl-connection',
  title: 'the role can open a replication connection',
  headline: 'The role cannot open a replication connection',
  severity: { continuous: 'blocker' },
  spec: 'S9.13',
  queries: {},
  evaluate(_values, { replication, username }): CheckOutcome {
    if (replication === undefined) return skipOutcome('no replication connection was attempted');
    if (replication.kind === 'entered') return passOutcome('IDENTIFY_SYSTEM succeeded');
    const { code, message } = replication;
    return failOutcome(['continuous'], message, { required: 'a WAL sender', ...replicationFix(code, username) });
  },
});

function replicationFix(code: string, username: string): { readonly detail: string; readonly fix: FindingFix } {
  const role = quoteIdentifier(username);
  switch (code) {
    case '42501':
      return {
        detail:
          'The subscription of the target opens a replication connection with the same login and would fail with the same error.',
        fix: {
          sql: [`ALTER ROLE ${role} REPLICATION`],
          undo: [`ALTER ROLE ${role} NOREPLICATION`],
          effects: [roleEffect({ replication: true })],
          text: `Give the role REPLICATION (on Amazon RDS: GRANT rds_replication TO ${role}).`,
        },
      };
    case '53300':
      return {
        detail: 'All WAL senders are in use.',
        fix: { text: 'Raise max_wal_senders (restart), or end unused replication connections.' },
      };
    case '08P01':
      return {
        detail: 'A pooler between this machine and the server does not support replication connections.',
        fix: { text: 'Use the address and port of the server.' },
      };
    default:
      return {
        detail: `The subscription of the target opens a replication connection with the same login and would fail as well (${code}).`,
        fix: {
          text: 'Allow the role to replicate: the role needs the attribute REPLICATION, a free WAL sender (max_wal_senders) and a pg_hba.conf rule for its databases.',
        },
      };
  }
}
