import {
  formatPostgresqlMajorVersion,
  formatPostgresqlVersion,
  truncateToPostgresqlMajorVersion,
} from '../../../../postgresql/version.ts';
import { failOutcome, type PreflightCheckOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareServerPreflightCheck, postgresqlMigrationMethods } from '../check.ts';
import { getPostgresqlSourceVersion, getPostgresqlTargetVersion } from '../source-facts.ts';

export const postgresqlVersionNotNewerCheck = declareServerPreflightCheck({
  id: 'version-not-newer',
  title: 'the source is not newer than the target',
  headline: 'The source is newer than the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.9',
  needs: 'connection',
  queries: {},
  evaluate(_values, facts, { targetVersion }): PreflightCheckOutcome {
    const version = getPostgresqlSourceVersion(facts);
    const target = getPostgresqlTargetVersion({ targetVersion });
    const source = `source ${formatPostgresqlVersion(version)}`;
    if (target === undefined) {
      const why =
        targetVersion === undefined ? 'the version of the target is not known' : 'the version of the target is invalid';
      return {
        ...unknownOutcome(`${source}; ${why}`, {
          text: 'Provide the version of the target cluster, for example --target-version 17.',
        }),
        headline: 'The version of the target is not known',
        settledBy: '--target-version',
      };
    }
    const observed = `${source}, target ${formatPostgresqlMajorVersion(target)}`;
    if (truncateToPostgresqlMajorVersion(version) <= target) return passOutcome(observed);
    return failOutcome(postgresqlMigrationMethods, observed, {
      required: `a target with ${formatPostgresqlMajorVersion(version)} or newer`,
      detail:
        'The schema of a newer server can use features that an older server does not support, so the restore fails; the service does not migrate to an older major version.',
      fix: { text: `Migrate into a cluster with version ${formatPostgresqlMajorVersion(version)} or newer.` },
    });
  },
});
