import type { FunctionOrViewBody } from '../queries/function-bodies.ts';
import { type FunctionBodyNameReference, findFunctionBodyNameReferences } from './name-references.ts';

/** A relation that a function body names; a name without a schema stands for every relation with that name. */
export type FunctionRelationRead = Pick<FunctionBodyNameReference, 'schema' | 'name' | 'certain'>;

export interface RelationsReadByFunction {
  readonly reads: readonly FunctionRelationRead[];
  /** The body of the function, and the bodies of the functions and views that it uses. */
  readonly bodies: readonly FunctionOrViewBody[];
}

/**
 * The relations that a function reads, directly and through the functions and views that it uses. Only relations that
 * are named in the body of one of these functions are found.
 */
export function createFunctionRelationReader(
  bodies: readonly FunctionOrViewBody[],
): (oid: string) => RelationsReadByFunction {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  const byName = new Map<string, FunctionOrViewBody[]>();
  for (const body of bodies) byName.set(body.name, [...(byName.get(body.name) ?? []), body]);
  const known = new Map<string, readonly FunctionBodyNameReference[]>();
  const named = (oid: string): readonly FunctionBodyNameReference[] => {
    const body = byOid.get(oid);
    const found =
      known.get(oid) ??
      (body === undefined ? [] : findFunctionBodyNameReferences(`${body.text} ${body.bound}`, body.language));
    known.set(oid, found);
    return found;
  };
  const called = ({ kind, schema, name }: FunctionBodyNameReference): readonly FunctionOrViewBody[] =>
    kind !== 'function' && kind !== 'relation'
      ? []
      : (byName.get(name) ?? []).filter(
          (one) => one.isView === (kind === 'relation') && (schema === undefined || one.schema === schema),
        );
  return (oid) => {
    const reached = new Set([oid]);
    const reads: FunctionRelationRead[] = [];
    // The loop over a Set also visits elements that are added during the loop.
    for (const one of reached) {
      for (const reference of named(one)) {
        if (reference.kind === 'relation') reads.push(reference);
        for (const body of called(reference)) reached.add(body.oid);
      }
      for (const next of byOid.get(one)?.calls ?? []) reached.add(next);
    }
    return { reads, bodies: [...reached].flatMap((one) => byOid.get(one) ?? []) };
  };
}
