import { type CheckOutcome, fail, pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { createRelationReads, type RelationRead } from '../function-body/relation-reads.ts';
import { tokenize } from '../function-body/tokenize.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { type FunctionBody, functionBodiesQuery } from '../queries/function-bodies.ts';
import { type FunctionUse, functionUsesQuery } from '../queries/function-uses.ts';
import { pluralize } from '../units.ts';

export const readingFunctionsCheck = databaseCheck({
  id: 'reading-functions',
  title: 'no generated column, index, partition key or domain calls a function that reads a table',
  headline: 'A generated column, an index, a partition key or a domain calls a function that reads a table',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { functionUses: functionUsesQuery, functionBodies: functionBodiesQuery },
  evaluate({ functionUses, functionBodies }, database) {
    const found = readingUses(functionUses, functionBodies);
    const differing = found.filter(({ kind, reads }) => kind === 'generated' && reads.some(isCertainRead));
    if (found.length === 0) return pass('none');
    return differing.length > 0 ? differingColumns(differing, database) : unknownResults(found, database);
  },
});

interface ReadingUse extends FunctionUse {
  readonly signature: string;
  readonly reads: readonly RelationRead[];
}

/** What the target computes for copied rows by a function that reads rows of a table, or may do so. */
function readingUses(uses: readonly FunctionUse[], bodies: readonly FunctionBody[]): readonly ReadingUse[] {
  const readsOf = createRelationReads(bodies.map((body) => ({ ...body, text: withoutTypeNames(body.text) })));
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  return uses.flatMap((use) => {
    const body = byOid.get(use.calls);
    if (body === undefined || !use.filled || !computedKinds.has(use.kind)) return [];
    const reads = readsOf(use.calls);
    return reads.length > 0 || composesQuery(body.text) ? [{ ...use, signature: body.signature, reads }] : [];
  });
}

/** CHECK constraints of tables have a check of their own (reading-checks). */
const computedKinds: ReadonlySet<FunctionUse['kind']> = new Set([
  'generated',
  'index',
  'unique',
  'partition',
  'domain',
  'support',
]);

/** EXECUTE of a composed text, and functions that run the query in their argument. */
function composesQuery(text: string): boolean {
  return tokenize(text).some(({ kind, text: word }) => kind === 'word' && composingWord.test(word));
}

const composingWord = /^execute$|^(?:query|table|cursor|schema)_to_xml|^dblink/;

/** `t%ROWTYPE` and `'t'::regclass` name a table without reading it. */
function withoutTypeNames(text: string): string {
  return text
    .replace(/(?:"(?:[^"]|"")*"|[\w$.])+\s*%\s*(?:row)?type\b/gi, 'record')
    .replace(/'(?:[^']|'')*'\s*::\s*(?:pg_catalog\.)?reg\w+/gi, 'NULL');
}

/** A read of a table of users that happens at every call. The system catalogs may contain the same rows on the target. */
function isCertainRead({ schema, name, certain }: RelationRead): boolean {
  return certain && !/^(?:pg_|information_schema$)/.test(schema ?? name);
}

function differingColumns(found: readonly ReadingUse[], database: string): CheckOutcome {
  return fail(['continuous', 'dump'], `${pluralize(found.length, 'generated column')}, computed from rows of a table`, {
    headline: 'A generated column is computed by a function that reads a table',
    required: 'functions that depend on their arguments only',
    detail: `Generated columns are not copied: the target computes them when it copies their row, and the rows that the function reads may not be copied yet or have changed since. These functions are declared IMMUTABLE but are not, so values differ or are NULL on the target without an error.${unlistedNote(found)}`,
    objects: firstListedObjects(found).map(described),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Change them to ordinary columns, which are copied (ALTER TABLE … ALTER COLUMN … DROP EXPRESSION, 13 and newer), and fill them with a trigger.',
    },
  });
}

function unknownResults(found: readonly ReadingUse[], database: string): CheckOutcome {
  const indexes = found.filter(({ kind }) => kind === 'index' || kind === 'unique' || kind === 'support');
  const rebuild = indexes.flatMap(({ name }) => /^index (.+) on /.exec(name)?.[1] ?? []);
  const repair =
    rebuild.length === 0
      ? ''
      : ` An index that was filled too early has wrong entries, so queries do not find rows; its owner can rebuild it on the target when every table is copied: ${firstListedObjects(
          rebuild,
        )
          .map((name) => `REINDEX INDEX ${name}`)
          .join('; ')}.`;
  return {
    ...unknown(
      `${pluralize(found.length, 'use')} of functions that read a table, and it is not known what they return`,
    ),
    premise: 'these functions need no rows that are copied later',
    required: 'functions that depend on their arguments only',
    detail: `The target calls these functions when it copies a row, and the rows that they read may not be copied yet. The copy of a table fails until they are: "duplicate key value violates unique constraint", "new row for relation … violates partition constraint", "value for domain … violates check constraint". It never succeeds when a function reads the table that is copied.${repair}${unlistedNote(found)}`,
    objects: firstListedObjects(found).map(described),
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
