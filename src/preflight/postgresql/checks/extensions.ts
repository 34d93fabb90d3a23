import { fail, pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstListedObjects } from '../object-list.ts';
import { extensionsQuery, type InstalledExtension, isBuiltInExtension } from '../queries/extensions.ts';

export const extensionsCheck = databaseCheck({
  id: 'extensions',
  title: 'the target provides every extension',
  headline: 'The target does not provide every extension',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { extensions: extensionsQuery },
  evaluate({ extensions }, database, _ground, { targetExtensions }) {
    const own = extensions.filter((extension) => !isBuiltInExtension(extension));
    if (own.length === 0) return pass('plpgsql only');
    const names = own.map(({ name }) => name);
    if (targetExtensions === undefined) {
      return {
        ...unknown(names.join(', '), {
          text: 'Provide the extensions of the target with --target-extensions name,name (on the target: SELECT name FROM pg_available_extensions).',
        }),
        headline: 'The extensions of the target are not known',
        detail: 'The schema cannot be restored if one of them is missing.',
        objects: firstListedObjects(own).map(described),
      };
    }
    const missing = own.filter(({ name }) => !targetExtensions.includes(name.toLowerCase()));
    if (missing.length === 0) return pass(names.join(', '));
    return fail(['continuous', 'dump'], `${missing.map(({ name }) => name).join(', ')} missing`, {
      required: names.join(', '),
      detail: `The schema cannot be restored: "extension "${missing[0]?.name}" is not available", and objects that depend on it are missing too.`,
      objects: firstListedObjects(missing).map(described),
      fix: {
        database,
        by: 'the owner of the schema',
        text: `If they are unused: ${missing.map(({ name }) => `DROP EXTENSION "${name.replaceAll('"', '""')}"`).join('; ')}. Otherwise replace them, use a target that provides them, or exclude the database with --ignore-dbs.`,
      },
    });
  },
});

function described({ name, version }: InstalledExtension): string {
  return `${name} ${version}`;
}
