import { passOutcome, skipOutcome } from '../../finding.ts';
import { evaluateServerIdentity } from '../../network/evaluate.ts';
import { declareServerCheck } from '../check.ts';

export const postgresqlServerIdentityVerifiedCheck = declareServerCheck({
  id: 'server-identity',
  title: 'the identity of the server was verified',
  headline: 'The identity of the server was not verified',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: {},
  evaluate(_values, { connection, address, tls }) {
    if (connection.kind !== 'entered') return skipOutcome('no connection');
    // SCRAM with channel binding: the server proved that it knows the password, on a connection with exactly this
    // certificate.
    if (connection.authentication === 'scram-sha-256-plus') return passOutcome('SCRAM-SHA-256-PLUS (channel binding)');
    return evaluateServerIdentity(
      address,
      tls,
      connection.ssl,
      'Give the CA certificate of the server: --ca-file FILE, or sslmode=verify-full&sslrootcert=FILE in --source. A role with a scram-sha-256 password, connected over TLS without a pooler, needs no CA certificate.',
    );
  },
});
