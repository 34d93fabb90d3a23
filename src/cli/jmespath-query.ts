import type { JSONValue } from '@jmespath-community/jmespath';
import { usageError } from '../errors.ts';
import { replaceExactNumbers } from './number-placeholders.ts';
import { sanitizeLine } from './sanitize.ts';

/** A checked JMESPath expression (https://jmespath.site): data in, data out. */
export interface JmespathQuery {
  (data: unknown): unknown;
  /** Whether it looks at each element of a list by itself: then the parts of a list give the parts of the result. */
  readonly isItemwise: boolean;
}

/** A bad expression is a usage error, and known before any request is made. */
export async function compileJmespath(text: string): Promise<JmespathQuery> {
  const { compile, TreeInterpreter } = await import('@jmespath-community/jmespath');
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw queryError(error);
    }
  };
  const expression = attempt(() => compile(text));
  const search = (data: unknown): unknown =>
    attempt(() => (isJsonValue(data) ? TreeInterpreter.search(expression, data) : null));
  const run = (data: unknown): unknown => {
    const known = replaceExactNumbers(data);
    return known === undefined ? search(data) : known.restore(search(known.data));
  };
  return Object.assign(run, {
    isItemwise: isElementwise(expression) && !JSON.stringify(expression).includes(rootNodeMarker),
  });
}

type Expression = ReturnType<typeof import('@jmespath-community/jmespath')['compile']>;

/** The whole, whatever stands before it. */
const rootNodeMarker = '"type":"Root"';

/** Projections of the list itself, one after another; `[0]`, `[:5]`, `length(@)` and `sort(@)` want the list whole. */
function isElementwise(node: Expression): boolean {
  switch (node.type) {
    case 'Identity':
    case 'Current':
      return true;
    case 'Flatten':
      return isElementwise(node.child);
    case 'Projection':
    case 'FilterProjection':
      return isElementwise(node.left);
    case 'Pipe':
      return isElementwise(node.left) && isElementwise(node.right);
    default:
      return false;
  }
}

function queryError(error: unknown) {
  const reason = error instanceof Error ? sanitizeLine(error.message) : 'unknown reason';
  return usageError(
    'cannot use the expression of --query',
    'write it as in `--query "[?status==\'active\'].name"`; https://jmespath.site describes the language',
    reason,
  );
}

// What came out of JSON is data; undefined alone is not.
function isJsonValue(value: unknown): value is JSONValue {
  return value !== undefined;
}
