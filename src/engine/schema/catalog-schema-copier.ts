import type { DatabaseEndpoint, SchemaCopier, SchemaCopyResult } from '../schema-copier.ts';
import { createParts } from './create-parts.ts';
import { createContainerLookup, orderParts } from './order-parts.ts';
import { readSourceSchema, type SourceSchema } from './read-schema.ts';
import type { SchemaPart } from './schema-part.ts';
import { type SchemaSession, withSchemaSession } from './schema-session.ts';
import { missingRequirements, targetObstacles, versionObstacles } from './target-obstacles.ts';

/**
 * Copies by reading the catalogue of the source and saying it again to the target, in one transaction.
 * Whatever it cannot copy it names, before it has made anything.
 */
export const copySchemaFromCatalog: SchemaCopier = (from, to, signal) =>
  withSchemaSession(from, signal, (source) =>
    withSchemaSession(to, signal, (target) => copySchemaBetween(from, source, target)),
  );

/** Between two open sessions. */
export async function copySchemaBetween(
  from: DatabaseEndpoint,
  source: SchemaSession,
  target: SchemaSession,
): Promise<SchemaCopyResult> {
  const versions = { from: source.version, to: target.version };
  const unfit = [...versionObstacles(versions), ...(await targetObstacles(source.session, target.session))];
  if (unfit.length > 0) return { kind: 'refused', objects: unfit };
  const schema = await readSourceSchema(source.session, versions);
  const plan = planParts(schema);
  const obstacles = [
    ...schema.unsupported,
    ...plan.obstacles,
    ...(await missingRequirements(target.session, plan.parts)),
  ];
  if (obstacles.length > 0) return { kind: 'refused', objects: obstacles };
  const failed = await createParts(target.session, plan.parts);
  if (failed !== undefined) return { kind: 'refused', objects: [failed] };
  return { kind: 'copied', by: `the catalogue of ${from.host}`, warnings: schema.notes };
}

interface CopyPlan {
  readonly parts: readonly SchemaPart[];
  readonly obstacles: readonly string[];
}

/** In the order in which they can be made; comments on what is not copied fall away. */
export function planParts({
  parts,
  dependencies,
  pieces,
}: Pick<SourceSchema, 'parts' | 'dependencies' | 'pieces'>): CopyPlan {
  const whole = createContainerLookup(new Set(parts.map(({ id }) => id)), new Map(pieces));
  const kept = parts.filter(
    ({ kind, needs }) => kind !== 'comment' || isCommentTargetCopied(needs[0] ?? '', whole(needs[0] ?? '')),
  );
  const result = orderParts(kept, dependencies, pieces);
  const garbled = kept.filter(({ statements }) => statements.some((text) => text.includes('\uFFFD')));
  return {
    parts: result.parts,
    obstacles: [
      ...(result.kind === 'circle' ? result.parts.map(({ name }) => `${name} (in a circle of dependencies)`) : []),
      ...garbled.map(({ name }) => `${name} (its text is not in the encoding of the database)`),
    ],
  };
}

/** What belongs to an extension comes with its comments; the schema public is there, and only its comment may be another. */
function isCommentTargetCopied(id: string, whole: string | undefined): boolean {
  if (whole === undefined) return id.startsWith('pg_namespace:');
  return whole === id || !whole.startsWith('pg_extension:');
}
