import { evaluatePublicAddress } from '../../network/evaluate.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';

export const postgresqlHostPublicAddressCheck = declareServerCheck({
  id: 'host-public-address',
  title: 'the host has a public address',
  headline: 'The host has no public address',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.10',
  needs: 'address',
  queries: {},
  evaluate: (_values, facts, options) => evaluatePublicAddress(facts.address, options, postgresqlMethods),
});
