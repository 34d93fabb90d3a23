import { failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { namedExtensions } from '../../options.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { column, columns, rowsQuery } from '../query.ts';
import type { PostgresqlTarget } from '../target.ts';

/** A security label provider: a library of the server, which a dump does not contain. */
const labelProvidersQuery = rowsQuery({
  id: 'security-label-providers',
  scope: 'database',
  when: featureCondition('labels'),
  sql: () => `
    SELECT l.provider, min(pg_describe_object(l.classoid, l.objoid, l.objsubid)) AS object
    FROM pg_seclabel l
    GROUP BY 1
    ORDER BY 1
  `,
  row: columns({
    provider: column.text('provider'),
    /** One labelled object: `table public.people`. */
    object: column.text('object'),
  }),
});

export const securityLabelsCheck = declareDatabaseCheck({
  id: 'security-labels',
  title: 'no object has a security label',
  headline: 'Objects have security labels',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { labelProviders: labelProvidersQuery },
  evaluate({ labelProviders }, database, _ground, { target, targetExtensions }) {
    if (labelProviders.length === 0) return passOutcome('none');
    const named = namedExtensions(targetExtensions);
    const loaded = loadedLibraries(target?.postgresql);
    const isLoaded = (provider: string) => loaded?.includes(libraries[provider] ?? provider);
    const missing = labelProviders.filter(({ provider }) => isLoaded(provider) === false);
    const open = labelProviders.filter(
      ({ provider }) => isLoaded(provider) === undefined && !named.has(provider.toLowerCase()),
    );
    const hidden = labelProviders.filter(({ provider }) => isLoaded(provider) === undefined);
    const unmet = [missing, open, hidden].find((some) => some.length > 0);
    if (unmet === undefined)
      return passOutcome(`labels of ${labelProviders.map(({ provider }) => provider).join(', ')}`);
    const providers = [...new Set(unmet.map(({ provider }) => provider))].join(', ');
    const observed = `labels of ${providers}`;
    const more = {
      required: 'no security label, or a target that loads the label provider',
      detail: `A security label can be restored only if the target has loaded its label provider: "security label provider "${unmet[0]?.provider}" is not loaded". Otherwise the schema cannot be restored.${unlistedNote(unmet)}`,
      objects: limitObjects(unmet).map(({ provider, object }) => `${object} (${provider})`),
      fix: {
        database,
        by: 'the owner of the objects',
        text: `If the security labels are not needed, remove them: SECURITY LABEL FOR ${unmet[0]?.provider} ON … IS NULL for the objects in pg_seclabels. Otherwise ask the service to load the label provider, and add the provider to --target-extensions.`,
      },
    };
    if (unmet === missing) return failOutcome(['continuous', 'dump'], observed, more);
    // The name of an extension does not say whether the target loads it at its start.
    if (unmet === hidden) return warnOutcome(observed, more);
    return {
      ...unknownOutcome(observed),
      ...more,
      premise: `the target loads the label provider ${providers}`,
      settledBy: '--target',
    };
  },
});

/** Labels are accepted from providers that the server or the session has loaded. */
function loadedLibraries(target: PostgresqlTarget | undefined): readonly string[] | undefined {
  const shared = target?.settings.get('shared_preload_libraries');
  const session = target?.settings.get('session_preload_libraries');
  return shared === undefined || session === undefined ? undefined : `${shared},${session}`.split(/[\s,"]+/);
}

/** Libraries that are not named after their provider. */
const libraries: Readonly<Record<string, string>> = { selinux: 'sepgsql' };
