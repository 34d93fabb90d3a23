import { countOf } from '../../../../base/text.ts';
import { type CheckOutcome, failOutcome, infoOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { bodiesQuery, type ObjectBody } from '../queries/function-bodies.ts';
import { type FunctionUse, functionUsesQuery } from '../queries/function-uses.ts';
import { type GeneratedColumns, generatedColumnsQuery } from '../queries/relations.ts';

/**
 * Whether the result of a function declared IMMUTABLE changes over time, because the function reads the clock or
 * generates values. `perhaps`: the function uses only the date or a part of the time. The result is a guess from the
 * text of the function body.
 */
export function detectTimeDependence(text: string): 'surely' | 'perhaps' | undefined {
  const words = text
    .toLowerCase()
    .replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
    .replace(/'[^']*(?:'|$)/g, "''");
  if (!volatileCalls.test(words)) return undefined;
  return timePartCalls.test(words) ? 'perhaps' : 'surely';
}

const volatileCalls =
  /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|random|gen_random_uuid|uuid_generate_v[14]|uuidv[47]|nextval|txid_current|pg_current_xact_id)\s*\(|\b(current_timestamp|current_date|current_time|localtime|localtimestamp)\b/;

const timePartCalls =
  /\b(age|date_part|extract|date_trunc|date)\s*\(|::\s*date\b|\bas\s+date\b|\bcurrent_date\b|\b(if|case|perform|raise)\b/;

export const generatedColumnsCheck = declareDatabaseCheck({
  id: 'generated-columns',
  title: 'the database has no generated columns',
  headline: 'The database has generated columns',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    columns: generatedColumnsQuery,
    functionUses: functionUsesQuery,
    functionBodies: bodiesQuery,
  },
  evaluate({ columns: { generated }, functionUses, functionBodies }, database) {
    if (generated.length === 0) return passOutcome('none');
    const replaced = generated.filter((column) => column.isReplaced);
    if (replaced.length > 0) return replacedExpressions(replaced, database);
    const volatile = volatileColumns(functionUses, functionBodies);
    if (volatile.length > 0) return differingValues(volatile, database);
    const virtual = generated.filter((column) => column.virtual).length;
    const needed = virtual === 0 ? '' : ' Virtual columns need PostgreSQL 18 or newer on the target.';
    return infoOutcome(`${generated.length - virtual} stored, ${virtual} virtual`, {
      detail: `Generated columns are not replicated: the target computes them.${needed}${unlistedNote(generated)}`,
      objects: limitObjects(generated).map(({ table, column }) => `${table}.${column}`),
    });
  },
});

function replacedExpressions(columns: GeneratedColumns['generated'], database: string): CheckOutcome {
  const names = columns.map(({ table, column }) => `${table}.${column}`);
  return failOutcome(
    ['continuous', 'dump'],
    `${countOf(columns.length, 'column')} with another expression than the parent`,
    {
      headline: 'A generated column has another expression on the target',
      required:
        'inherited generated columns with the expression of the parent, or columns that the child defines itself',
      detail: `A dump leaves out the expression of an inherited column, and the target gives the column that of the parent: the values differ without an error.${unlistedNote(columns)}`,
      objects: limitObjects(names),
      fix: {
        database,
        by: 'the owner of the tables',
        text: 'In one transaction, run ALTER TABLE … NO INHERIT … for all parents of the child, and ALTER TABLE … INHERIT …: it then defines the column itself, and a dump has its expression.',
      },
    },
  );
}

interface VolatileColumn {
  readonly column: string;
  readonly signature: string;
  readonly how: 'surely' | 'perhaps';
}

/** Stored generated columns of tables with rows, whose function can return another value for the same row. */
function volatileColumns(uses: readonly FunctionUse[], bodies: readonly ObjectBody[]): readonly VolatileColumn[] {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  return uses.flatMap(({ calls, kind, filled, name }) => {
    const body = byOid.get(calls);
    const how = body === undefined ? undefined : detectTimeDependence(`${body.text} ${body.bound}`);
    if (kind !== 'generated' || !filled || body === undefined || how === undefined) return [];
    return [{ column: name.replace(/^column /, ''), signature: body.signature, how }];
  });
}

function differingValues(volatile: readonly VolatileColumn[], database: string): CheckOutcome {
  const certain = volatile.filter(({ how }) => how === 'surely');
  const named = certain.length > 0 ? certain : volatile;
  const observed = `${countOf(named.length, 'column')} computed by a function that uses the current time or a random value`;
  const more = {
    headline: 'A generated column can have other values on the target',
    required: 'generated columns with functions that return the same value for the same row',
    detail: `Generated columns are not replicated: the target computes them. The functions of these columns are declared IMMUTABLE but are not, so the values differ on the target without an error.${unlistedNote(named)}`,
    objects: limitObjects(named).map(({ column, signature }) => `${column} (${signature})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Change the generated columns to ordinary columns, which are replicated (ALTER TABLE … ALTER COLUMN … DROP EXPRESSION, PostgreSQL 13 and newer), and set their values with a trigger.',
    },
  };
  return certain.length > 0
    ? failOutcome(['continuous', 'dump'], observed, more)
    : { ...unknownOutcome(observed), ...more, premise: sameValues };
}

const sameValues = 'the functions of generated columns return the same values on the target';
