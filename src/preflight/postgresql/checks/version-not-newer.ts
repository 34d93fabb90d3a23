import {
  formatMajorVersion,
  formatServerVersion,
  majorVersionOf,
  parseMajorVersion,
} from '../../../postgresql/version.ts';
import { type CheckOutcome, fail, pass, unknown } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { bothMethods } from '../login-steps.ts';
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
