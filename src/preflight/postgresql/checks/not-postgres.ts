import { type CheckOutcome, fail, pass } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { evaluateLoginStep, failLogin } from '../login-steps.ts';
import type { PostgresqlConnectionResult } from '../source-facts.ts';

export const notPostgresCheck = serverCheck({
  id: 'not-postgres',
  title: 'the source is PostgreSQL',
  headline: 'The source is not PostgreSQL',
  severity: { continuous: 'blocker', dump: 'warning' },
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLoginStep(
      facts,
      'not-postgres',
      () => (facts.connection.kind === 'entered' ? judgeProduct(facts.connection) : pass('it speaks the protocol')),
      (why) =>
        failLogin(why, {
          required: 'the protocol of PostgreSQL',
          detail:
            'What answers on this port does not speak it: another database, a web server, or a port that was mistyped.',
          fix: { text: `Check host and port ${facts.address.port}, and --engine.` },
        }),
    );
  },
});

function judgeProduct({ versionText }: Extract<PostgresqlConnectionResult, { kind: 'entered' }>): CheckOutcome {
  const product = products.find(([, mark]) => mark.test(versionText))?.[0];
  if (product === undefined && /^PostgreSQL \d/.test(versionText)) return pass(versionText);
  return fail(['continuous'], versionText, {
    required: 'PostgreSQL',
    detail: `${product ?? 'This product'} speaks the protocol of PostgreSQL and has not its logical replication (pgoutput): the subscription cannot start. A dump may stumble over what PostgreSQL does not know.`,
    fix: {
      text: 'Migrate with a dump, and try its schema on the target first; or use the export tool of the product.',
    },
  });
}

/** Some call themselves PostgreSQL first. */
const products: readonly (readonly [name: string, mark: RegExp])[] = [
  ['CockroachDB', /Cockroach/i],
  ['YugabyteDB', /-YB-|Yugabyte/i],
  ['Amazon Redshift', /Redshift/i],
  ['Greenplum', /Greenplum|Cloudberry/i],
  ['openGauss', /openGauss|GaussDB/i],
  ['Materialize', /Materialize/i],
  ['RisingWave', /RisingWave/i],
  ['CrateDB', /CrateDB/i],
  ['EDB Postgres Advanced Server', /EnterpriseDB Advanced/i],
];
