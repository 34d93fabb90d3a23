import { evaluatePublicAddress } from '../../network/evaluate.ts';
import { declareServerPreflightCheck, postgresqlMigrationMethods } from '../check.ts';

export const postgresqlHostPublicAddressCheck = declareServerPreflightCheck({
  id: 'host-public-address',
  title: 'the host has a public address',
  headline: 'The host has no public address',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.10',
  needs: 'address',
  queries: {},
  evaluate: (_values, facts, options) => evaluatePublicAddress(facts.address, options, postgresqlMigrationMethods),
});
