import { formatPostgresqlVersion } from '../../../../postgresql/version.ts';
import { failOutcome, type PreflightCheckOutcome, passOutcome } from '../../finding.ts';
import { declareServerPreflightCheck, postgresqlMigrationMethods } from '../check.ts';
import { getPostgresqlSourceVersion } from '../source-facts.ts';

export const postgresqlVersionMinCheck = declareServerPreflightCheck({
  id: 'version-min',
  title: 'the source is PostgreSQL 10 or newer',
  headline: 'The source is older than PostgreSQL 10',
  severity: { continuous: 'blocker', dump: 'blocker' },
  needs: 'connection',
  queries: {},
  evaluate(_values, facts): PreflightCheckOutcome {
    const version = getPostgresqlSourceVersion(facts);
    const versionText = formatPostgresqlVersion(version);
    if (version >= logicalSince) return passOutcome(versionText);
    if (version >= supportedSince) {
      return failOutcome(['continuous'], versionText, {
        required: '10',
        detail:
          'Logical replication (publications and pgoutput) was added in PostgreSQL 10. A dump works with older versions too.',
        fix: { text: 'Upgrade the source first (pg_upgrade), or migrate with a dump.' },
      });
    }
    return failOutcome(postgresqlMigrationMethods, versionText, {
      required: '9.6',
      detail: 'Neither the service nor current tools support a server this old.',
      fix: { text: 'Upgrade the source to 10 or newer first (pg_upgrade).' },
    });
  },
});

/**
 * Publications and pgoutput exist since PostgreSQL 10; 9.6 is the oldest version that current releases of pg_dump
 * support.
 */
const logicalSince = 100_000;

const supportedSince = 90_600;
