import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import {
  catalogEntriesCreatedTogetherQuery,
  multirangesOfRangeTypesQuery,
  schemaDependenciesQuery,
} from './dependency-queries.ts';
import type { SchemaObjectDependency } from './order-schema-objects.ts';
import { schemaObjectCreationStatementsQueries } from './schema-object-creation-statements-queries.ts';
import {
  decodeSchemaObjectDefinition,
  removeUnneededIdentifierQuotes,
  type SchemaObjectDefinition,
  type SourceAndTargetVersions,
} from './schema-object-definition.ts';
import { queryColumnValues, schemaCopyStatementTimeout } from './schema-session.ts';
import { uncopiedSchemaPropertiesQuery } from './uncopied-schema-properties-query.ts';
import { unsupportedSchemaObjectsQuery } from './unsupported-objects.ts';

/** A schema, read from the system catalogs of the source. */
export interface SourceSchema {
  readonly parts: readonly SchemaObjectDefinition[];
  readonly dependencies: readonly SchemaObjectDependency[];
  readonly containedEntries: readonly SchemaObjectDependency[];
  /** Objects of the source that cannot be copied to the target. */
  readonly unsupported: readonly string[];
  /** Properties of objects that are intentionally not copied. */
  readonly omissions: readonly string[];
}

/** Reads the schema in one read-only transaction. */
export async function readSourceSchema(
  session: SearchPathSafeSession,
  versions: SourceAndTargetVersions,
): Promise<SourceSchema> {
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const parts: SchemaObjectDefinition[] = [];
  for (const { kind, sql } of schemaObjectCreationStatementsQueries) {
    const [rows = []] = await session.query(sql(versions), schemaCopyStatementTimeout);
    parts.push(...rows.map((row) => decodeSchemaObjectDefinition(kind, row)));
  }
  const schema = {
    parts: parts.filter(({ statements }) => statements.length > 0),
    dependencies: await queryPairs(session, schemaDependenciesQuery),
    containedEntries: [
      ...(await queryPairs(session, catalogEntriesCreatedTogetherQuery)),
      ...(versions.from >= 140_000 ? await queryPairs(session, multirangesOfRangeTypesQuery) : []),
    ],
    unsupported: (await queryColumnValues(session, unsupportedSchemaObjectsQuery(versions), 'name')).map(
      removeUnneededIdentifierQuotes,
    ),
    omissions: await queryColumnValues(session, uncopiedSchemaPropertiesQuery, 'note'),
  };
  await session.query('COMMIT');
  return schema;
}

async function queryPairs(session: SearchPathSafeSession, text: string): Promise<readonly SchemaObjectDependency[]> {
  const [rows = []] = await session.query(text, schemaCopyStatementTimeout);
  return rows.flatMap(({ piece, whole }) => (piece == null || whole == null ? [] : [[piece, whole] as const]));
}
