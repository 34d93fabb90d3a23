import { type CheckOutcome, failOutcome, passOutcome, skipOutcome } from '../../finding.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';
import type { PostgresqlFacts } from '../source-facts.ts';

export const selfTargetCheck = declareServerCheck({
  id: 'self-target',
  title: 'source and target are different servers',
  headline: 'Source and target are the same server',
  severity: { continuous: 'blocker', dump: 'blocker' },
  needs: 'address',
  queries: {},
  evaluate(_values, { address }: PostgresqlFacts, { target }): CheckOutcome {
    if (target === undefined) return skipOutcome('the address of the target is not known');
    const mine = [address.host, ...address.connects.map((each) => each.address)].map(normalizeHost);
    const same = target.port === address.port && mine.includes(normalizeHost(target.host));
    if (!same) return passOutcome(`the target is ${target.host}, port ${target.port}`);
    return failOutcome(postgresqlMethods, `source and target are ${address.host}, port ${address.port}`, {
      required: 'two servers',
      detail:
        'A migration to the same server is not supported: CREATE SUBSCRIPTION would wait for its own transaction forever.',
      fix: { text: 'Use another target.' },
    });
  },
});

function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
