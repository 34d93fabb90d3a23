import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { formatPostgresqlMajorVersion, truncateToPostgresqlMajorVersion } from '../../../postgresql/version.ts';
import type { SchemaObjectDefinition, SourceAndTargetVersions } from './schema-object-definition.ts';
import { queryColumnValues, queryValueOfFirstRow } from './schema-session.ts';
import { userObjectCondition, userSchemaCondition } from './sql-fragments.ts';

/** Reasons why a schema cannot be copied between the given PostgreSQL versions; empty if it can. */
export function findSchemaCopyVersionObstacles({ from, to }: SourceAndTargetVersions): readonly string[] {
  if (from < oldestReadableVersion) {
    return [
      `PostgreSQL ${formatPostgresqlMajorVersion(from)} is not supported: the source must be PostgreSQL ${formatPostgresqlMajorVersion(oldestReadableVersion)} or later`,
    ];
  }
  if (truncateToPostgresqlMajorVersion(from) <= truncateToPostgresqlMajorVersion(to)) return [];
  return [
    `PostgreSQL ${formatPostgresqlMajorVersion(from)} is newer than the target, PostgreSQL ${formatPostgresqlMajorVersion(to)}`,
  ];
}

/** The oldest PostgreSQL version with which the catalog queries work. */
const oldestReadableVersion = 120_000;

/**
 * Reasons why the schema cannot be created on the target: existing objects, or a different encoding of the target; empty if
 * the schema can be created.
 */
export async function findSchemaCopyObstacles(
  source: SearchPathSafeSession,
  target: SearchPathSafeSession,
): Promise<readonly string[]> {
  const [from, to] = [
    await queryValueOfFirstRow(source, encodingQuery),
    await queryValueOfFirstRow(target, encodingQuery),
  ];
  return [
    ...(from === 'SQL_ASCII' && to !== from ? [`the source has the encoding SQL_ASCII, and the target has ${to}`] : []),
    ...(await listExistingObjects(target)).map((name) => `${name} (exists on the target)`),
  ];
}

const encodingQuery = `SELECT pg_encoding_to_char(encoding) AS value FROM pg_database WHERE datname = current_database()`;

/** Names of at most 20 objects of users in the target database, without extensions. */
async function listExistingObjects(session: SearchPathSafeSession): Promise<readonly string[]> {
  return await queryColumnValues(
    session,
    `SELECT name FROM (
      SELECT format('%s.%s', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_class', 'c.oid')} AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c')
      UNION ALL SELECT format('%s.%s', n.nspname, t.typname) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_type', 't.oid')} AND t.typtype IN ('e', 'd', 'r')
      UNION ALL SELECT format('%s.%s', n.nspname, p.proname) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_proc', 'p.oid')}
      UNION ALL SELECT format('schema %s', n.nspname) FROM pg_namespace n
        WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_namespace', 'n.oid')} AND n.nspname <> 'public'
    ) AS x(name) ORDER BY name LIMIT 20`,
    'name',
  );
}

/** Requirements of schema parts that the target does not meet, each with its part. */
export async function findMissingSchemaRequirements(
  session: SearchPathSafeSession,
  parts: readonly SchemaObjectDefinition[],
): Promise<readonly string[]> {
  const available = new Set(await queryColumnValues(session, availableRequirementsQuery, 'name'));
  return parts.flatMap(({ name, requirements }) =>
    requirements
      .filter((requirement) => !available.has(requirement))
      .map((requirement) => {
        const [what, ...rest] = requirement.split(':');
        const thing = `${what} ${rest.join(':')}`;
        return thing === name
          ? `${name} (not available on the target)`
          : `${name} (the target does not have the ${thing})`;
      }),
  );
}

const availableRequirementsQuery = `SELECT 'extension:' || name AS name FROM pg_available_extensions
  UNION ALL SELECT 'role:' || rolname FROM pg_roles
  UNION ALL SELECT 'language:' || lanname FROM pg_language`;
