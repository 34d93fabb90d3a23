import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { getContribExtensionStatus, majorVersionsWithContribExtensionData } from '../contrib-extensions.ts';
import { limitFindingObjects } from '../listed-objects.ts';
import { type InstalledExtension, installedExtensionsQuery, isPreinstalledExtension } from '../queries/extensions.ts';
import { getPostgresqlSourceVersion, getPostgresqlTargetVersion } from '../source-facts.ts';

export const extensionsCheck = declareDatabasePreflightCheck({
  id: 'extensions',
  title: 'the target provides every extension',
  headline: 'The target does not provide every extension',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { extensions: installedExtensionsQuery },
  evaluate({ extensions }, database, facts, options) {
    const { targetExtensions } = options;
    const own = extensions.filter((extension) => !isPreinstalledExtension(extension));
    if (own.length === 0) return passOutcome('plpgsql only');
    const names = own.map(({ name }) => name);
    const releases = possibleReleases(getPostgresqlTargetVersion(options), getPostgresqlSourceVersion(facts));
    const isMissing = ({ name }: InstalledExtension) =>
      targetExtensions === undefined
        ? releases.every((major) => getContribExtensionStatus(name, major) === 'absent')
        : !targetExtensions.includes(name.toLowerCase());
    const missing = own.filter(isMissing);
    const open =
      targetExtensions === undefined
        ? own.filter(({ name }) => !releases.every((major) => getContribExtensionStatus(name, major) === 'trusted'))
        : [];
    if (missing.length === 0 && open.length > 0) {
      return {
        ...unknownOutcome(open.map(({ name }) => name).join(', '), {
          text: 'Provide the extensions of the target with --target-extensions name,name (on the target: SELECT name FROM pg_available_extensions).',
        }),
        headline: 'The extensions of the target are not known',
        ...(open.length > 3 ? {} : { premise: `the target provides ${open.map(({ name }) => name).join(', ')}` }),
        settledBy: '--target-extensions',
        detail: 'The schema cannot be restored if one of the extensions is missing on the target.',
        objects: limitFindingObjects(open).map(described),
      };
    }
    if (missing.length === 0) return passOutcome(names.join(', '));
    return failOutcome(['continuous', 'dump'], `${missing.map(({ name }) => name).join(', ')} missing`, {
      required: names.join(', '),
      detail: `The schema cannot be restored: "extension "${missing[0]?.name}" is not available", and objects that depend on the extension are missing too.`,
      objects: limitFindingObjects(missing).map(described),
      fix: {
        database,
        by: 'the owner of the schema',
        text: `If the extensions are not used: ${missing.map(({ name }) => `DROP EXTENSION "${name.replaceAll('"', '""')}"`).join('; ')}. Otherwise replace the extensions, use a target that provides them, or exclude the database with --ignore-dbs.`,
      },
    });
  },
});

/** The PostgreSQL releases that the target can have, which are never older than the source. */
function possibleReleases(target: number | undefined, sourceVersion: number): readonly number[] {
  const first = Math.max(Math.floor((target ?? sourceVersion) / 10_000), majorVersionsWithContribExtensionData.first);
  const last = target === undefined ? Math.max(first, majorVersionsWithContribExtensionData.last) : first;
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function described({ name, version }: InstalledExtension): string {
  return `${name} ${version}`;
}
