import { evaluateServerIdentity } from '../../network/evaluate.ts';
import { declareRedisCheck } from '../check.ts';

export const redisServerIdentityCheck = declareRedisCheck({
  id: 'server-identity',
  title: 'the identity of the server was verified',
  headline: 'The identity of the server was not verified',
  severity: { continuous: 'warning', scan: 'warning' },
  queries: {},
  evaluate(_values, { address, tls, ssl }) {
    return evaluateServerIdentity(
      address,
      tls,
      ssl,
      'Give the CA certificate of the server with --ca-file FILE, and write rediss://.',
    );
  },
});
