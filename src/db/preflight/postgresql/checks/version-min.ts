import { formatVersion } from '../../../../postgresql/version.ts';
import { type CheckOutcome, failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';
import { sourceVersionNumber } from '../source-facts.ts';

export const postgresqlVersionMinCheck = declareServerCheck({
  id: 'version-min',
  title: 'the source is PostgreSQL 10 or newer',
  headline: 'The source is older than PostgreSQL 10',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {},
  evaluate(_values, facts): CheckOutcome {
    const version = sourceVersionNumber(facts);
    const versionText = formatVersion(version);
    if (version >= logicalSince) return passOutcome(versionText);
    if (version >= supportedSince) {
      return failOutcome(['continuous'], versionText, {
        required: '10',
        detail:
          'Logical replication (publications and pgoutput) was added in PostgreSQL 10. A dump works with older versions too.',
        fix: { text: 'Upgrade the source first (pg_upgrade), or migrate with a dump.' },
      });
    }
    return failOutcome(postgresqlMethods, versionText, {
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
