import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { securityLabelProvidersQuery } from '../queries/security-label-providers.ts';

export const securityLabelsCheck = declareDatabasePreflightCheck({
  id: 'security-labels',
  title: 'no object has a security label',
  headline: 'Objects have security labels',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { labelProviders: securityLabelProvidersQuery },
  evaluate({ labelProviders }, database, _ground, { targetExtensions }) {
    if (labelProviders.length === 0) return passOutcome('none');
    const missing = labelProviders.filter(
      ({ provider }) => targetExtensions?.includes(provider.toLowerCase()) === false,
    );
    const named = missing.length > 0 ? missing : labelProviders;
    const observed = `labels of ${named.map(({ provider }) => provider).join(', ')}`;
    const more = {
      required: 'no security label, or a target that loads the label provider',
      detail: `A security label can be restored only if the target has loaded its label provider: "security label provider "${named[0]?.provider}" is not loaded". Otherwise the schema cannot be restored.${buildUnlistedObjectsNote(named)}`,
      objects: limitFindingObjects(named).map(({ provider, object }) => `${object} (${provider})`),
      fix: {
        database,
        by: 'the owner of the objects',
        text: `If the security labels are not needed, remove them: SECURITY LABEL FOR ${named[0]?.provider} ON … IS NULL for the objects in pg_seclabels. Otherwise ask the service to load the label provider, and add the provider to --target-extensions.`,
      },
    };
    // Without --target-extensions it is not known whether the target has the label provider.
    return missing.length > 0 ? failOutcome(['continuous', 'dump'], observed, more) : warnOutcome(observed, more);
  },
});
