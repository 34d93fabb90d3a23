import { countOf } from '../../../../base/text.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { tokenizeBody } from '../function-body/tokenize.ts';
import { createRelationReader, type FunctionReads, type RelationRead } from '../function-body/unresolved-names.ts';
import { bodiesQuery, type ObjectBody } from '../queries/function-bodies.ts';
import { type FunctionUse, functionUsesQuery } from '../queries/function-uses.ts';

export const tableReadingFunctionsCheck = declareDatabaseCheck({
  id: 'reading-functions',
  title: 'no generated column, index, partition key or domain calls a function that reads a table',
  headline: 'A generated column, an index, a partition key or a domain calls a function that reads a table',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { functionUses: functionUsesQuery, functionBodies: bodiesQuery },
  evaluate({ functionUses, functionBodies }, database) {
    const found = readingUses(functionUses, functionBodies);
    const differing = found.filter(({ kind, reads }) => kind === 'generated' && reads.some(isCertainRead));
    if (found.length === 0) return passOutcome('none');
    return differing.length > 0 ? differingColumns(differing, database) : unknownResults(found, database);
  },
});

interface ReadingUse extends FunctionUse {
  readonly signature: string;
  readonly reads: readonly RelationRead[];
}

/** Objects that the target evaluates for copied rows with a function that reads rows of a table, or may read them. */
function readingUses(uses: readonly FunctionUse[], bodies: readonly ObjectBody[]): readonly ReadingUse[] {
  const readsOf = createRowReader(bodies);
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  return uses.flatMap((use) => {
    const body = byOid.get(use.calls);
    if (body === undefined || !use.filled || !computedKinds.has(use.kind)) return [];
    const { reads, bodies: used } = readsOf(use.calls);
    return reads.length > 0 || used.some(({ text }) => composesQuery(text))
      ? [{ ...use, signature: body.signature, reads }]
      : [];
  });
}

/** Returns a function that finds the relations whose rows a function reads, in its own body and in those it calls. */
export function createRowReader(bodies: readonly ObjectBody[]): (oid: string) => FunctionReads {
  return createRelationReader(
    bodies.map((body) => ({ ...body, text: withoutTypeNames(body.text), bound: withoutTypeNames(body.bound) })),
  );
}

/** CHECK constraints of tables are evaluated by the check `reading-checks`. */
const computedKinds: ReadonlySet<FunctionUse['kind']> = new Set([
  'generated',
  'index',
  'unique',
  'partition',
  'domain',
  'support',
]);

/** Function bodies that EXECUTE a text, or call a function of PostgreSQL or its modules that runs the query in its argument. */
export function composesQuery(text: string): boolean {
  return tokenizeBody(text).some(({ kind, text: word }) => kind === 'word' && composingWord.test(word));
}

const composingWord =
  /^(?:execute|ts_stat|ts_rewrite|xpath_table)$|^(?:query|table|cursor|schema)_to_xml|^(?:dblink|crosstab|connectby)/;

/**
 * The expressions `t%ROWTYPE` and `'t'::regclass` name a table without reading its rows. Every name and string is matched,
 * with or without what follows it: a pattern that only then fails would take exponential time on a hostile body.
 */
export function withoutTypeNames(text: string): string {
  return text
    .replace(/(?:"[^"]*"|[\w$.]+)+(\s*%\s*(?:row)?type\b)?/gi, (name, type) => (type === undefined ? name : 'record'))
    .replace(/(?:'[^']*')+(\s*::\s*(?:pg_catalog\.)?reg\w+)?/gi, (text, cast) => (cast === undefined ? text : 'NULL'));
}

/**
 * Whether the function reads a table of users on every call. Reads of system catalogs do not count, because the target
 * may have the same rows in them.
 */
function isCertainRead({ schema, name, certain }: RelationRead): boolean {
  return certain && !isCatalog({ schema, name });
}

/** Whether a relation that a function reads is a system catalog; `function-results` reports functions that read one. */
export function isCatalog({ schema, name }: Pick<RelationRead, 'schema' | 'name'>): boolean {
  return /^(?:pg_|information_schema$)/.test(schema ?? name);
}

function differingColumns(found: readonly ReadingUse[], database: string): CheckOutcome {
  return failOutcome(
    ['continuous', 'dump'],
    `${countOf(found.length, 'generated column')}, computed from rows of a table`,
    {
      headline: 'A generated column is computed by a function that reads a table',
      required: 'generated columns with functions that depend only on their arguments',
      detail: `Generated columns are not copied: the target computes them when it copies their row, and the rows that the function reads may not be copied yet or have changed since. The functions are declared IMMUTABLE but are not, so values differ or are NULL on the target without an error.${unlistedNote(found)}`,
      objects: limitObjects(found).map(described),
      fix: {
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Change the generated columns to ordinary columns, which are copied (ALTER TABLE … ALTER COLUMN … DROP EXPRESSION, PostgreSQL 13 and newer), and set their values with a trigger.',
      },
    },
  );
}

function unknownResults(found: readonly ReadingUse[], database: string): CheckOutcome {
  const indexes = found.filter(({ kind }) => kind === 'index' || kind === 'unique' || kind === 'support');
  const rebuild = indexes.flatMap(({ name }) => /^index (.+) on /.exec(name)?.[1] ?? []);
  const repair =
    rebuild.length === 0
      ? ''
      : ` An index that was filled too early has wrong entries, so queries do not find rows; its owner can rebuild it on the target when every table is copied: ${limitObjects(
          rebuild,
        )
          .map((name) => `REINDEX INDEX ${name}`)
          .join('; ')}.`;
  return {
    ...unknownOutcome(
      `${countOf(found.length, 'use')} of functions that read a table, and it is not known what they return`,
    ),
    premise: 'the functions of indexes, partition keys and domains need no rows that are copied later',
    required: 'functions that depend only on their arguments',
    detail: `The target calls these functions when it copies a row, and the rows that they read may not be copied yet. The copy of a table fails until these rows are copied: "duplicate key value violates unique constraint", "new row for relation … violates partition constraint", "value for domain … violates check constraint". The copy never succeeds when a function reads the table that is being copied.${repair}${unlistedNote(found)}`,
    objects: limitObjects(found).map(described),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Drop the indexes and constraints before the migration and create them on the target after the cut-over, and partition by a column. Run `cloudctl db rehearse` to see whether the rows can be copied.',
    },
  };
}

function described({ name, signature }: ReadingUse): string {
  return `${name} (${signature})`;
}
