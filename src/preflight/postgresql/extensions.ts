import { fail, info, pass, unknown } from '../finding.ts';
import { databaseCheck } from './check.ts';
import { firstObjects, unlistedNote } from './object-list.ts';
import {
  extensionsQuery,
  extensionTablesQuery,
  type InstalledExtension,
  isBuiltInExtension,
} from './queries/extensions.ts';
import { countText } from './units.ts';

export const extensionsCheck = databaseCheck({
  id: 'extensions',
  title: 'the target has every extension',
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

export const extTablesCheck = databaseCheck({
  id: 'ext-tables',
  title: 'no table of an extension collides with that of the target',
  queries: { filledTables: extensionTablesQuery },
  evaluate({ filledTables }, _database, _ground, { method }) {
    if (filledTables.length === 0) return pass('none');
    const objects = firstObjects(filledTables).map(({ name, extension }) => `${name} (${extension})`);
    const observed = countText(filledTables.length, 'table');
    if (method === 'dump') return info(observed, { detail: 'A dump leaves them to CREATE EXTENSION.', objects });
    return fail(['continuous'], observed, {
      required: 'none with rows',
      detail: `CREATE EXTENSION fills them on the target, and FOR ALL TABLES copies the same rows again: "duplicate key value violates unique constraint". The copy of the table is tried again for ever and holds a replication slot; where there is no key every row is there twice.${unlistedNote(filledTables)}`,
      objects,
      fix: {
        by: 'who owns the data',
        text: 'Migrate with the dump, drop the extension where nothing needs it, or leave the database out with ignore_dbs. The rows must not be deleted here: the extension lives on them.',
      },
    });
  },
});

function described({ name, version }: InstalledExtension): string {
  return `${name} ${version}`;
}
