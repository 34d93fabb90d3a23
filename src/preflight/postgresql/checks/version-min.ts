import { formatServerVersion } from '../../../postgresql/version.ts';
import { type CheckOutcome, fail, pass } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { continuousAndDump } from '../login-steps.ts';
import { serverVersionOf } from '../source-facts.ts';

export const postgresqlVersionMinCheck = serverCheck({
  id: 'version-min',
  title: 'the source is PostgreSQL 10 or newer',
  headline: 'The source is older than PostgreSQL 10',
  severity: { continuous: 'blocker', dump: 'blocker' },
  needs: 'connection',
  queries: {},
  evaluate(_values, facts): CheckOutcome {
    const version = serverVersionOf(facts);
    const versionText = formatServerVersion(version);
    if (version >= logicalSince) return pass(versionText);
    if (version >= supportedSince) {
      return fail(['continuous'], versionText, {
        required: '10',
        detail:
          'Logical replication (publications and pgoutput) was added in PostgreSQL 10. A dump works with older versions too.',
        fix: { text: 'Upgrade the source first (pg_upgrade), or migrate with a dump.' },
      });
    }
    return fail(continuousAndDump, versionText, {
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
