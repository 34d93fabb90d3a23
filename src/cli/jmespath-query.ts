import type { JSONValue } from '@jmespath-community/jmespath';
import { usageError } from '../base/errors.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import { replaceLosslessNumbersWithDoubles } from './replace-lossless-numbers.ts';

/** A compiled JMESPath expression (https://jmespath.site), called with the data to query. */
export interface JmespathQuery {
  (data: unknown): unknown;
  /** Whether querying each part of a list separately gives the same result, so that a list can be queried page by page. */
  readonly isItemwise: boolean;
  /**
   * The columns of an empty result, which has no objects with keys: those of a result with rows. Undefined if the expression
   * selects rows unchanged, so that they have the columns of their view.
   */
  readonly emptyColumns: readonly string[] | undefined;
}

/** Compiles an expression. Throws a usage error before any request if the expression is not valid. */
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
    const known = replaceLosslessNumbersWithDoubles(data);
    return known === undefined ? search(data) : known.restore(search(known.data));
  };
  return Object.assign(run, {
    isItemwise: isElementwise(expression) && !JSON.stringify(expression).includes(rootNodeMarker),
    emptyColumns: columnsOf(expression),
  });
}

type Expression = ReturnType<typeof import('@jmespath-community/jmespath')['compile']>;

/** The JMESPath node `$`, which means the whole input wherever it occurs in the expression. */
const rootNodeMarker = '"type":"Root"';

/**
 * True for an expression that is evaluated item by item. The expressions `[0]`, `[:5]`, `length(@)` and `sort(@)` need the
 * whole list.
 */
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

/** The keys of `{…}` at the end of an expression; empty for other values, and undefined for unchanged rows. */
function columnsOf(node: Expression): readonly string[] | undefined {
  switch (node.type) {
    case 'Identity':
    case 'Current':
      return undefined;
    case 'MultiSelectHash':
      return node.children.map(({ name }) => name);
    case 'Flatten':
      return columnsOf(node.child);
    case 'LetExpression':
      return columnsOf(node.expression);
    case 'Projection':
    case 'FilterProjection':
    case 'Pipe':
    case 'Subexpression':
      return columnsOf(node.right) ?? columnsOf(node.left);
    case 'IndexExpression':
      return node.right.type === 'Slice' ? columnsOf(node.left) : [];
    case 'Function': {
      const [first] = node.children;
      return ['sort', 'sort_by', 'reverse'].includes(node.name) && first !== undefined ? columnsOf(first) : [];
    }
    default:
      return [];
  }
}

function queryError(error: unknown) {
  const reason = error instanceof Error ? sanitizeLine(error.message) : 'unknown reason';
  return usageError(
    '--query is not a valid JMESPath expression',
    'use a form such as `--query "[?status==\'active\'].name"` (see https://jmespath.site)',
    reason,
  );
}

// JSON can represent every value except undefined.
function isJsonValue(value: unknown): value is JSONValue {
  return value !== undefined;
}
