import type { JSONValue } from '@jmespath-community/jmespath';
import { usage } from '../errors.ts';
import { clean } from './sanitize.ts';
import { standIn } from './stand-in.ts';

/** A checked JMESPath expression (https://jmespath.site): data in, data out. */
export interface Query {
  (data: unknown): unknown;
  /** Whether it looks at each element of a list by itself: then the parts of a list give the parts of the result. */
  readonly isItemwise: boolean;
}

/** A bad expression is a usage error, and known before any request is made. */
export async function compileQuery(text: string): Promise<Query> {
  const { compile, TreeInterpreter } = await import('@jmespath-community/jmespath');
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw queryFault(error);
    }
  };
  const expression = attempt(() => compile(text));
  const search = (data: unknown): unknown =>
    attempt(() => (isData(data) ? TreeInterpreter.search(expression, data) : null));
  const run = (data: unknown): unknown => {
    const known = standIn(data);
    return known === undefined ? search(data) : known.restored(search(known.data));
  };
  return Object.assign(run, { isItemwise: isItemwise(expression) && !JSON.stringify(expression).includes(root) });
}

type Expression = ReturnType<typeof import('@jmespath-community/jmespath')['compile']>;

/** The whole, whatever stands before it. */
const root = '"type":"Root"';

/** Projections of the list itself, one after another; `[0]`, `[:5]`, `length(@)` and `sort(@)` want the list whole. */
function isItemwise(node: Expression): boolean {
  switch (node.type) {
    case 'Identity':
    case 'Current':
      return true;
    case 'Flatten':
      return isItemwise(node.child);
    case 'Projection':
    case 'FilterProjection':
      return isItemwise(node.left);
    case 'Pipe':
      return isItemwise(node.left) && isItemwise(node.right);
    default:
      return false;
  }
}

function queryFault(error: unknown) {
  const reason = error instanceof Error ? clean(error.message) : 'unknown reason';
  return usage(
    'cannot use the expression of --query',
    'write it as in `--query "[?status==\'active\'].name"`; https://jmespath.site describes the language',
    reason,
  );
}

// What came out of JSON is data; undefined alone is not.
function isData(value: unknown): value is JSONValue {
  return value !== undefined;
}
