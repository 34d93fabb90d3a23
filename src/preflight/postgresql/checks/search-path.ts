import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { findUnresolvedNames, type UnresolvedName } from '../function-body/unresolved-names.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { functionBodiesQuery } from '../queries/function-bodies.ts';
import { functionUsesQuery } from '../queries/function-uses.ts';
import { namedObjectsQuery } from '../queries/named-objects.ts';
import { searchPathOperatorsQuery } from '../queries/search-path-operators.ts';
import { countText } from '../units.ts';

export const searchPathCheck = databaseCheck({
  id: 'search-path',
  title: 'functions that are called for each row need no search_path',
  headline: 'A function that is called for each row needs a search_path',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    functionUses: functionUsesQuery,
    functionBodies: functionBodiesQuery,
    meanings: namedObjectsQuery,
    lostOperators: searchPathOperatorsQuery,
  },
  evaluate({ functionUses, functionBodies, meanings, lostOperators }, database) {
    const lost = findUnresolvedNames(functionUses, functionBodies, meanings, lostOperators);
    const [first] = lost;
    if (first === undefined) return pass('all');
    const functions = lost.filter(({ signature }, at) => lost.findIndex((one) => one.signature === signature) === at);
    const isCertain = functions.some(({ fails }) => fails);
    const curable = functions.filter(({ path }) => path !== undefined);
    const more = {
      required: 'names with their schema, or a search_path of the function',
      detail: `Rows are copied and applied, and indexes made, with an empty search_path. CHECK constraints, indexes, generated columns, domains, keys of partitions and triggers call these functions there, whose texts name things without a schema: "${told(first)}". ${isCertain ? 'What needs them fails each time it is tried.' : 'The copy fails when a row comes for which they do so: their tables have none yet, or the name stands where not every row leads.'}${unlistedNote(functions)}`,
      objects: firstObjects(functions).map(
        ({ signature, kind, name, use }) => `${signature} (${kind} ${name}; ${use})`,
      ),
      fix: {
        ...(curable.length === 0
          ? {}
          : {
              sql: curable.map(
                ({ signature, path = [] }) =>
                  `ALTER FUNCTION ${signature} SET search_path = ${[...path.map(quoteIdentifier), 'pg_temp'].join(', ')}`,
              ),
              undo: curable.map(({ signature }) => `ALTER FUNCTION ${signature} RESET search_path`),
            }),
        database,
        by: 'the owner of the functions, or a superuser',
        text: `Give them a search_path, or write the schemas into their texts. One of SQL with a search_path is no longer put into the query that calls it, which may be slower.${curable.length < functions.length ? ' A name that more than one schema has needs a person who knows which one is meant.' : ''} A CHECK that reads another table may still fail until that has its rows.`,
      },
    };
    const observed = countText(functions.length, 'function');
    if (!isCertain) return warn(observed, more);
    const isDumped = lost.every(({ fails, onlyContinuous }) => !fails || onlyContinuous);
    return fail(isDumped ? ['continuous'] : ['continuous', 'dump'], observed, more);
  },
});

function told({ kind, name }: UnresolvedName): string {
  if (kind === 'operator') return `operator does not exist: … ${name} …`;
  return `${kind} ${kind === 'function' ? `${name}(…)` : `"${name}"`} does not exist`;
}
