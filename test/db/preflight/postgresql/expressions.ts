import type { CallableObject } from '../../../../src/db/preflight/postgresql/queries/callables.ts';
import type { StoredExpression } from '../../../../src/db/preflight/postgresql/queries/stored-expressions.ts';

export function storedExpression(more: Partial<StoredExpression> = {}): StoredExpression {
  return {
    kind: 'check',
    name: 'c on public.t',
    tables: ['public.t'],
    columns: [],
    texts: ['public.f(v)'],
    predicate: '',
    operators: [],
    key: [],
    type: '',
    isOrdered: false,
    isLettered: false,
    hidden: '',
    isNullEqual: false,
    isComparable: true,
    uses: [],
    shapes: [],
    since: undefined,
    age: undefined,
    ...more,
  };
}

/** A function of a user. */
export function callable(more: Partial<CallableObject> = {}): CallableObject {
  return {
    id: '1255:16400',
    kind: 'function',
    schema: 'public',
    name: 'f',
    extension: '',
    isAlsoBuiltin: false,
    path: '',
    sets: [],
    body: '',
    language: 'sql',
    versions: [],
    calls: [],
    ...more,
  };
}
