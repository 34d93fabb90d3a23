import { evaluateContradictions } from '../../network/evaluate.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';

export const hostParseConflictCheck = declareServerCheck({
  id: 'host-parse',
  title: 'the host option agrees with the other connection options',
  headline: 'The host option contradicts other connection options',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.2',
  needs: 'address',
  queries: {},
  evaluate: (_values, facts) => evaluateContradictions(facts.address, postgresqlMethods),
});
