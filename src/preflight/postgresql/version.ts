import {
  formatMajorVersion,
  formatServerVersion,
  majorVersionOf,
  parseMajorVersion,
} from '../../postgresql/version.ts';
import { type CheckOutcome, fail, pass, unknown } from '../finding.ts';
import { serverCheck } from './check.ts';
import { bothMethods, evaluateLoginStep, failLogin } from './login-steps.ts';
import type { PostgresqlConnectionResult, PostgresqlSourceFacts } from './source-facts.ts';

export const postgresqlVersionMinCheck = serverCheck({
  id: 'version-min',
  title: 'the source is PostgreSQL 10 or newer',
  needs: 'entry',
  queries: {},
  evaluate(_values, ground): CheckOutcome {
    const version = versionIn(ground);
    const words = formatServerVersion(version);
    if (version >= logicalSince) return pass(words);
    if (version >= supportedSince) {
      return fail(['continuous'], words, {
        required: '10',
        detail: 'Before 10 there is no logical replication built in: no publications, no pgoutput. A dump works.',
        fix: { text: 'Upgrade the source first (pg_upgrade), or migrate with a dump.' },
      });
    }
    return fail(bothMethods, words, {
      required: '9.6',
      detail: 'Neither the service nor the tools of today read so old a server.',
      fix: { text: 'Upgrade the source to 10 or newer first (pg_upgrade).' },
    });
  },
});

export const postgresqlVersionNotNewerCheck = serverCheck({
  id: 'version-not-newer',
  title: 'the source is not newer than the target',
  spec: '4.6',
  needs: 'entry',
  queries: {},
  evaluate(_values, ground, { targetVersion }): CheckOutcome {
    const version = versionIn(ground);
    const target = targetVersion === undefined ? undefined : parseMajorVersion(targetVersion);
    const source = `source ${formatServerVersion(version)}`;
    if (target === undefined) {
      const why =
        targetVersion === undefined
          ? 'the version of the target is not known'
          : 'the version of the target cannot be read';
      return unknown(`${source}; ${why}`, {
        text: 'Say --target-version with the version of the cluster, as in --target-version 17.',
      });
    }
    const observed = `${source}, target ${formatMajorVersion(target)}`;
    if (majorVersionOf(version) <= target) return pass(observed);
    return fail(bothMethods, observed, {
      required: `a target of ${formatMajorVersion(version)} or newer`,
      detail:
        'The schema of a newer server may hold what an older one does not know: the restore ends in syntax errors, and the service refuses to migrate to an older major version.',
      fix: { text: `Migrate into a cluster of version ${formatMajorVersion(version)} or newer.` },
    });
  },
});

export const notPostgresCheck = serverCheck({
  id: 'not-postgres',
  title: 'the source is PostgreSQL itself',
  needs: 'address',
  queries: {},
  evaluate(_values, ground) {
    return evaluateLoginStep(
      ground,
      'not-postgres',
      () => (ground.connection.kind === 'entered' ? judgeProduct(ground.connection) : pass('it speaks the protocol')),
      (why) =>
        failLogin(why, {
          required: 'the protocol of PostgreSQL',
          detail:
            'What answers on this port does not speak it: another database, a web server, or a port that was mistyped.',
          fix: { text: `Check host and port ${ground.address.port}, and --engine.` },
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

function versionIn({ connection: entry }: PostgresqlSourceFacts): number {
  return entry.kind === 'entered' ? entry.version : 0;
}

/** Publications and pgoutput came with 10; 9.6 is the oldest that tools of today dump. */
const logicalSince = 100_000;
const supportedSince = 90_600;
