import {
  formatMajorVersion,
  formatServerVersion,
  majorVersionOf,
  parseMajorVersion,
} from '../../../postgresql/version.ts';
import { type CheckOutcome, fail, pass, unknown } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { continuousAndDump } from '../login-steps.ts';
import { serverVersionOf } from '../source-facts.ts';

export const postgresqlVersionNotNewerCheck = serverCheck({
  id: 'version-not-newer',
  title: 'the source is not newer than the target',
  headline: 'The source is newer than the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: {},
  evaluate(_values, facts, { targetVersion }): CheckOutcome {
    const version = serverVersionOf(facts);
    const target = targetVersion === undefined ? undefined : parseMajorVersion(targetVersion);
    const source = `source ${formatServerVersion(version)}`;
    if (target === undefined) {
      const why =
        targetVersion === undefined ? 'the version of the target is not known' : 'the version of the target is invalid';
      return {
        ...unknown(`${source}; ${why}`, {
          text: 'Provide the version of the target cluster, for example --target-version 17.',
        }),
        headline: 'The version of the target is not known',
        settledBy: '--target-version',
      };
    }
    const observed = `${source}, target ${formatMajorVersion(target)}`;
    if (majorVersionOf(version) <= target) return pass(observed);
    return fail(continuousAndDump, observed, {
      required: `a target with ${formatMajorVersion(version)} or newer`,
      detail:
        'The schema of a newer server can use features that an older server does not support, so the restore fails; the service does not migrate to an older major version.',
      fix: { text: `Migrate into a cluster with version ${formatMajorVersion(version)} or newer.` },
    });
  },
});
