import { fail, pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects } from '../object-list.ts';
import { extensionsQuery, type InstalledExtension, isBuiltInExtension } from '../queries/extensions.ts';

export const extensionsCheck = databaseCheck({
  id: 'extensions',
  title: 'the target provides every extension',
  headline: 'The target does not provide every extension',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { extensions: extensionsQuery },
  evaluate({ extensions }, database, _ground, { targetExtensions }) {
    const own = extensions.filter((extension) => !isBuiltInExtension(extension));
    if (own.length === 0) return pass('none but plpgsql');
    const names = own.map(({ name }) => name);
    if (targetExtensions === undefined) {
      return {
        ...unknown(names.join(', '), {
          text: 'Tell what the target offers: --target-extensions name,name (there: SELECT name FROM pg_available_extensions).',
        }),
        detail: 'The schema cannot be restored where one of them is missing.',
        objects: firstObjects(own).map(described),
      };
    }
    const missing = own.filter(({ name }) => !targetExtensions.includes(name.toLowerCase()));
    if (missing.length === 0) return pass(names.join(', '));
    return fail(['continuous', 'dump'], `${missing.map(({ name }) => name).join(', ')} missing`, {
      required: names.join(', '),
      detail: `The schema cannot be restored: "extension "${missing[0]?.name}" is not available", and what depends on it is missing too.`,
      objects: firstObjects(missing).map(described),
      fix: {
        database,
        by: 'the owner of the schema',
        text: `Where nothing needs it any more: ${missing.map(({ name }) => `DROP EXTENSION "${name.replaceAll('"', '""')}"`).join('; ')}. Else replace what it does, choose a target that has it, or leave the database out with ignore_dbs.`,
      },
    });
  },
});

function described({ name, version }: InstalledExtension): string {
  return `${name} ${version}`;
}
