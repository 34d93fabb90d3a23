import { formatMajorVersion, formatVersion, toMajorVersion } from '../../../../postgresql/version.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';
import { sourceVersionNumber, targetVersionNumber } from '../source-facts.ts';

export const postgresqlVersionNotNewerCheck = declareServerCheck({
  id: 'version-not-newer',
  title: 'the source is not newer than the target',
  headline: 'The source is newer than the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.9',
  queries: {},
  evaluate(_values, facts, { targetVersion }): CheckOutcome {
    const version = sourceVersionNumber(facts);
    const target = targetVersionNumber({ targetVersion });
    const source = `source ${formatVersion(version)}`;
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
    const observed = `${source}, target ${formatMajorVersion(target)}`;
    if (toMajorVersion(version) <= target) return passOutcome(observed);
    return failOutcome(postgresqlMethods, observed, {
      required: `a target with ${formatMajorVersion(version)} or newer`,
      detail:
        'The schema of a newer server can use features that an older server does not support, so the restore fails; the service does not migrate to an older major version.',
      fix: { text: `Migrate into a cluster with version ${formatMajorVersion(version)} or newer.` },
    });
  },
});
