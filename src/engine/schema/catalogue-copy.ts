import type { DatabaseDoor, SchemaCopied, SchemaCopy } from '../schema-copy.ts';
import { make } from './make.ts';
import { finder, order } from './order.ts';
import type { Part } from './part.ts';
import { readSchema, type Schema } from './read.ts';
import { type Side, withSession } from './session.ts';
import { missing, unfitTarget, unfitVersions } from './target.ts';

/**
 * Copies by reading the catalogue of the source and saying it again to the target, in one transaction.
 * Whatever it cannot copy it names, before it has made anything.
 */
export const copyCatalogue: SchemaCopy = (from, to, signal) =>
  withSession(from, signal, (source) => withSession(to, signal, (target) => copyBetween(from, source, target)));

/** Between two open sessions. */
export async function copyBetween(from: DatabaseDoor, source: Side, target: Side): Promise<SchemaCopied> {
  const versions = { from: source.version, to: target.version };
  const unfit = [...unfitVersions(versions), ...(await unfitTarget(source.session, target.session))];
  if (unfit.length > 0) return { kind: 'refused', objects: unfit };
  const schema = await readSchema(source.session, versions);
  const plan = planned(schema);
  const obstacles = [...schema.unsupported, ...plan.obstacles, ...(await missing(target.session, plan.parts))];
  if (obstacles.length > 0) return { kind: 'refused', objects: obstacles };
  const failed = await make(target.session, plan.parts);
  if (failed !== undefined) return { kind: 'refused', objects: [failed] };
  return { kind: 'copied', by: `the catalogue of ${from.host}`, warnings: schema.notes };
}

interface Plan {
  readonly parts: readonly Part[];
  readonly obstacles: readonly string[];
}

/** In the order in which they can be made; comments on what is not copied fall away. */
export function planned({ parts, dependencies, pieces }: Pick<Schema, 'parts' | 'dependencies' | 'pieces'>): Plan {
  const whole = finder(new Set(parts.map(({ id }) => id)), new Map(pieces));
  const kept = parts.filter(({ kind, needs }) => kind !== 'comment' || isCopied(needs[0] ?? '', whole(needs[0] ?? '')));
  const result = order(kept, dependencies, pieces);
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
function isCopied(id: string, whole: string | undefined): boolean {
  if (whole === undefined) return id.startsWith('pg_namespace:');
  return whole === id || !whole.startsWith('pg_extension:');
}
