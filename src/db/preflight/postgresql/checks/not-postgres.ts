import { type CheckOutcome, failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { evaluateLogin, failedLoginOutcome } from '../login.ts';
import type { PostgresqlConnectionResult } from '../source-facts.ts';

export const notPostgresCheck = declareServerCheck({
  id: 'not-postgres',
  title: 'the source is PostgreSQL',
  headline: 'The source is not PostgreSQL',
  severity: { continuous: 'blocker', dump: 'blocker' },
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLogin(
      facts,
      'not-postgres',
      () =>
        facts.connection.kind === 'entered' ? evaluateProduct(facts.connection) : passOutcome('PostgreSQL protocol'),
      (why) =>
        failedLoginOutcome(why, {
          required: 'the PostgreSQL protocol',
          detail:
            'The service on this port does not use the PostgreSQL protocol: it is another database or a web server, or the port is wrong.',
          fix: { text: `Correct the host, the port ${facts.address.port} or --engine.` },
        }),
    );
  },
});

function evaluateProduct({ versionText }: Extract<PostgresqlConnectionResult, { kind: 'entered' }>): CheckOutcome {
  const product = products.find(([, mark]) => mark.test(versionText))?.[0];
  if (product === undefined && /^PostgreSQL \d/.test(versionText)) return passOutcome(versionText);
  return failOutcome(['continuous'], versionText, {
    required: 'PostgreSQL',
    detail: `${product ?? 'This product'} uses the PostgreSQL protocol but has no logical replication with pgoutput, so the subscription cannot start. A dump can contain statements that PostgreSQL rejects.`,
    fix: {
      text: 'Migrate with a dump after you have tested its schema on the target, or use the export tool of the product.',
    },
  });
}

/**
 * Products that use the PostgreSQL protocol, with a mark in their version text. The version text of some of them begins
 * with the word PostgreSQL.
 */
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
