import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { securityLabelProvidersQuery } from '../queries/security-label-providers.ts';

export const securityLabelsCheck = databaseCheck({
  id: 'security-labels',
  title: 'no object has a security label',
  headline: 'Objects have security labels',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { labelProviders: securityLabelProvidersQuery },
  evaluate({ labelProviders }, database, _ground, { targetExtensions }) {
    if (labelProviders.length === 0) return pass('none');
    const gone = labelProviders.filter(({ provider }) => targetExtensions?.includes(provider.toLowerCase()) === false);
    const named = gone.length > 0 ? gone : labelProviders;
    const observed = `labels of ${named.map(({ provider }) => provider).join(', ')}`;
    const more = {
      required: 'none, or a target that has loaded their provider',
      detail: `A label is restored by its provider, which a server has to load: "security label provider "${named[0]?.provider}" is not loaded". The schema cannot be made where it is not.${unlistedNote(named)}`,
      objects: firstObjects(named).map(({ provider, object }) => `${object} (${provider})`),
      fix: {
        database,
        by: 'the owner of the objects',
        text: `Where nothing needs them: SECURITY LABEL FOR ${named[0]?.provider} ON … IS NULL, as pg_seclabels lists them. Else ask the service to load the provider, add it to --target-extensions, and give the labels again on the target.`,
      },
    };
    // Which extensions a target has may not be told.
    return gone.length > 0 ? fail(['continuous', 'dump'], observed, more) : warn(observed, more);
  },
});
