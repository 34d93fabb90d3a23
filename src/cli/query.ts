import type { JSONValue } from '@jmespath-community/jmespath';
import { usage } from '../errors.ts';
import { clean } from './sanitize.ts';

/** A checked JMESPath expression (https://jmespath.site): data in, data out. */
export type Query = (data: unknown) => unknown;

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
  return (data) => attempt(() => (isData(data) ? TreeInterpreter.search(expression, data) : null));
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
