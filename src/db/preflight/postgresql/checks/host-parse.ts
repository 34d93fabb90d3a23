import { evaluateSourceAddressContradictions } from '../../network/evaluate.ts';
import { declareServerPreflightCheck, postgresqlMigrationMethods } from '../check.ts';

export const hostParseConflictCheck = declareServerPreflightCheck({
  id: 'host-parse',
  title: 'the host option agrees with the other connection options',
  headline: 'The host option contradicts other connection options',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.2',
  needs: 'address',
  queries: {},
  evaluate: (_values, facts) => evaluateSourceAddressContradictions(facts.address, postgresqlMigrationMethods),
});
