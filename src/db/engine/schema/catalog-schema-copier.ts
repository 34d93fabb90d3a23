import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { SchemaCopyResult } from '../schema-copier.ts';
import { createSchemaObjectsOrReturnError } from './create-schema-parts.ts';
import { createSchemaPartLookup, orderSchemaObjects } from './order-schema-objects.ts';
import { readSourceSchema, type SourceSchema } from './read-schema.ts';
import type { SchemaObjectDefinition } from './schema-object-definition.ts';
import {
  findMissingSchemaRequirements,
  findSchemaCopyObstacles,
  findSchemaCopyVersionObstacles,
} from './target-obstacles.ts';
import type { SchemaCopySessionPair, TargetSchemaCreator } from './target-schema-creator.ts';

/**
 * Copies a schema from one open session to another, by reading the system catalogs of the source and running DDL on the
 * target. Objects that cannot be copied are reported before anything is created.
 */
export async function copySchemaBetween(
  from: PostgresqlEndpoint,
  { source, target }: SchemaCopySessionPair,
  writer: TargetSchemaCreator,
): Promise<SchemaCopyResult> {
  const versions = { from: source.version, to: target.version };
  const unfit = [
    ...findSchemaCopyVersionObstacles(versions),
    ...(await findSchemaCopyObstacles(source.session, target.session)),
  ];
  if (unfit.length > 0) return { kind: 'refused', objects: unfit };
  const schema = await readSourceSchema(source.session, versions);
  const plan = planSchemaObjects(schema);
  const obstacles = [
    ...schema.unsupported,
    ...writer.obstacles,
    ...plan.obstacles,
    ...(await findMissingSchemaRequirements(target.session, plan.parts)),
  ];
  if (obstacles.length > 0) return { kind: 'refused', objects: obstacles };
  const rejected = await writer.createFirst();
  if (rejected.length > 0) return { kind: 'refused', objects: rejected };
  const parts = plan.parts.map((part) => ({
    ...part,
    statements: part.statements.filter((statement) => !writer.isLeftOut(statement)),
  }));
  const failed = await createSchemaObjectsOrReturnError(writer.session, parts, writer.transaction);
  if (failed !== undefined) return { kind: 'refused', objects: [failed] };
  const { lastStatements, warnings } = writer;
  const last = lastStatements.length === 0 ? {} : { lastStatements };
  const by = `the system catalogs of ${from.host}`;
  return { kind: 'copied', by, warnings: [...schema.omissions, ...warnings], ...last };
}

interface CopyPlan {
  readonly parts: readonly SchemaObjectDefinition[];
  readonly obstacles: readonly string[];
}

/**
 * Orders the parts of a schema so that each can be created after those it depends on. Comments on objects that are not
 * copied are left out.
 */
export function planSchemaObjects({
  parts,
  dependencies,
  containedEntries,
}: Pick<SourceSchema, 'parts' | 'dependencies' | 'containedEntries'>): CopyPlan {
  const containerOf = createSchemaPartLookup(new Set(parts.map(({ id }) => id)), new Map(containedEntries));
  const kept = parts.filter(
    ({ kind, dependsOn }) =>
      kind !== 'comment' || isCommentTargetCopied(dependsOn[0] ?? '', containerOf(dependsOn[0] ?? '')),
  );
  const result = orderSchemaObjects(kept, dependencies, containedEntries);
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
