import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { decodeObject, type ObjectQuery, plainName, type SchemaObject, type Versions } from './object.ts';
import {
  missingRequirements,
  omissionsQuery,
  targetObstacles,
  unsupportedQuery,
  versionObstacles,
} from './obstacles.ts';
import {
  containedEntriesQuery,
  type Dependency,
  dependenciesQuery,
  multirangesQuery,
  orderObjects,
  partLookup,
} from './order.ts';
import {
  commentsQuery,
  defaultsQuery,
  eventTriggerPartsQuery,
  materializedViewsQuery,
  partitionTriggersQuery,
  policiesQuery,
  publicationsQuery,
  rulesQuery,
  statisticsQuery,
  triggersQuery,
  viewsQuery,
} from './parts/after-tables.ts';
import {
  aggregatesQuery,
  castsQuery,
  collationsQuery,
  compositesQuery,
  domainChecksQuery,
  domainsQuery,
  enumsQuery,
  extensionsQuery,
  functionsQuery,
  rangesQuery,
  schemasQuery,
} from './parts/schemas.ts';
import {
  checksQuery,
  columnSettingsQuery,
  foreignKeysQuery,
  indexesQuery,
  indexPartitionsQuery,
  keysQuery,
  sequenceOwnersQuery,
  sequencesQuery,
  tableSettingsQuery,
  tablesQuery,
  validationsQuery,
} from './parts/tables.ts';
import { createObjects, queryColumn, statementTimeout } from './session.ts';
import type { SchemaCopied, Sides, Writer } from './target.ts';

/**
 * Copies a schema from one open session to another, by reading the system catalogs of the source and running DDL on the
 * target. Objects that cannot be copied are reported before anything is created.
 */
export async function copyByCatalogs(
  from: PostgresqlEndpoint,
  { source, target }: Sides,
  writer: Writer,
): Promise<SchemaCopied> {
  const versions = { from: source.version, to: target.version };
  const unfit = [...versionObstacles(versions), ...(await targetObstacles(source.session, target.session))];
  if (unfit.length > 0) return { kind: 'refused', objects: unfit };
  const schema = await readSourceSchema(source.session, versions);
  const plan = planObjects(schema);
  const obstacles = [
    ...schema.unsupported,
    ...writer.obstacles,
    ...plan.obstacles,
    ...(await missingRequirements(target.session, plan.parts)),
  ];
  if (obstacles.length > 0) return { kind: 'refused', objects: obstacles };
  const rejected = await writer.createFirst();
  if (rejected.length > 0) return { kind: 'refused', objects: rejected };
  const parts = plan.parts.map((part) => ({
    ...part,
    statements: part.statements.filter((statement) => !writer.isLeftOut(statement)),
  }));
  const failed = await createObjects(writer.session, parts, writer.transaction);
  if (failed !== undefined) return { kind: 'refused', objects: [failed] };
  const { lastStatements, warnings } = writer;
  const last = lastStatements.length === 0 ? {} : { lastStatements };
  const by = `the system catalogs of ${from.host}`;
  return { kind: 'copied', by, warnings: [...schema.omissions, ...warnings], ...last };
}

interface CopyPlan {
  readonly parts: readonly SchemaObject[];
  readonly obstacles: readonly string[];
}

/**
 * Orders the parts of a schema so that each can be created after those it depends on. Comments on objects that are not
 * copied are left out.
 */
export function planObjects({
  parts,
  dependencies,
  containedEntries,
}: Pick<SourceSchema, 'parts' | 'dependencies' | 'containedEntries'>): CopyPlan {
  const containerOf = partLookup(new Set(parts.map(({ id }) => id)), new Map(containedEntries));
  const kept = parts.filter(
    ({ kind, dependsOn }) =>
      kind !== 'comment' || isCommentTargetCopied(dependsOn[0] ?? '', containerOf(dependsOn[0] ?? '')),
  );
  const result = orderObjects(kept, dependencies, containedEntries);
  const misencoded = kept.filter(({ statements }) => statements.some((text) => text.includes('\uFFFD')));
  return {
    parts: result.parts,
    obstacles: [
      ...(result.kind === 'circle' ? result.parts.map(({ name }) => `${name} (part of a dependency cycle)`) : []),
      ...misencoded.map(({ name }) => `${name} (its text is not valid in the encoding of the database)`),
    ],
  };
}

/**
 * Comments of extension members are left out, because extensions create their own comments. The schema public exists on
 * the target already, but its comment may differ.
 */
function isCommentTargetCopied(id: string, containerOf: string | undefined): boolean {
  if (containerOf === undefined) return id.startsWith('pg_namespace:');
  return containerOf === id || !containerOf.startsWith('pg_extension:');
}

/** A schema, read from the system catalogs of the source. */
interface SourceSchema {
  readonly parts: readonly SchemaObject[];
  readonly dependencies: readonly Dependency[];
  readonly containedEntries: readonly Dependency[];
  /** Objects of the source that cannot be copied to the target. */
  readonly unsupported: readonly string[];
  /** Properties of objects that are intentionally not copied. */
  readonly omissions: readonly string[];
}

/** Reads the schema in one read-only transaction. */
async function readSourceSchema(session: SafeSession, versions: Versions): Promise<SourceSchema> {
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const parts: SchemaObject[] = [];
  for (const { kind, sql } of objectQueries) {
    const [rows = []] = await session.query(sql(versions), statementTimeout);
    parts.push(...rows.map((row) => decodeObject(kind, row)));
  }
  const schema = {
    parts: parts.filter(({ statements }) => statements.length > 0),
    dependencies: await queryPairs(session, dependenciesQuery),
    containedEntries: [
      ...(await queryPairs(session, containedEntriesQuery)),
      ...(versions.from >= 140_000 ? await queryPairs(session, multirangesQuery) : []),
    ],
    unsupported: (await queryColumn(session, unsupportedQuery(versions), 'name')).map(plainName),
    omissions: await queryColumn(session, omissionsQuery, 'note'),
  };
  await session.query('COMMIT');
  return schema;
}

async function queryPairs(session: SafeSession, text: string): Promise<readonly Dependency[]> {
  const [rows = []] = await session.query(text, statementTimeout);
  return rows.flatMap(({ piece, whole }) => (piece == null || whole == null ? [] : [[piece, whole] as const]));
}

/** Queries for all objects that can be copied, one per kind. */
const objectQueries: readonly ObjectQuery[] = [
  schemasQuery,
  extensionsQuery,
  collationsQuery,
  enumsQuery,
  compositesQuery,
  domainsQuery,
  domainChecksQuery,
  rangesQuery,
  castsQuery,
  functionsQuery,
  aggregatesQuery,
  sequencesQuery,
  sequenceOwnersQuery,
  tablesQuery,
  columnSettingsQuery,
  defaultsQuery,
  viewsQuery,
  materializedViewsQuery,
  checksQuery,
  validationsQuery,
  keysQuery,
  indexesQuery,
  indexPartitionsQuery,
  tableSettingsQuery,
  statisticsQuery,
  triggersQuery,
  partitionTriggersQuery,
  rulesQuery,
  policiesQuery,
  foreignKeysQuery,
  publicationsQuery,
  commentsQuery,
  eventTriggerPartsQuery,
];
