import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeText, decodeTextArray } from '../../../../postgresql/rows.ts';
import { failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { findReferences } from '../function-body/names.ts';
import { isSqlSymbol, type SqlToken, tokenizeBody } from '../function-body/tokenize.ts';
import { createRelationReader } from '../function-body/unresolved-names.ts';
import { isNotMemberSql, laterKeywords } from '../queries/catalog-predicates.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { bodiesQuery } from '../queries/function-bodies.ts';
import { functionUsesQuery } from '../queries/function-uses.ts';
import type { PostgresqlQuery } from '../query.ts';
import { targetVersionNumber } from '../source-facts.ts';

/** Text in a function body that a later release rejects or reads in another way. */
interface LaterSyntax {
  readonly oid: string;
  readonly signature: string;
  readonly text: string;
  /** The first major version that does. */
  readonly since: number;
  /** Whether every call of the function for a row fails there. */
  readonly fails: boolean;
}

const numbersSince = 15;

/**
 * A dump creates functions without parsing their bodies. Since PostgreSQL 15 a number must end before the next word, and
 * since 16 and 17 the names of SQL/JSON functions are keywords: without a schema the grammar reads them as these.
 */
export const laterSyntaxQuery: PostgresqlQuery<readonly LaterSyntax[]> = {
  id: 'later-syntax',
  scope: 'database',
  when: featureCondition('functions'),
  sql: (version) => {
    const words = laterKeywords.filter(({ since }) => since > version / 10_000).flatMap((one) => one.words);
    const tests = [
      ...(version < numbersSince * 10_000 ? ["p.prosrc ~ '(^|[^[:alnum:]_])[$]?[0-9][0-9.]*[[:alpha:]_]'"] : []),
      ...(words.length === 0 ? [] : [`p.prosrc ~* '[[:<:]](${words.join('|')})[[:>:]]' AND w.names <> '{}'`]),
    ];
    if (tests.length === 0) return undefined;
    return `
      SELECT
        p.oid,
        p.oid::regprocedure::text AS signature,
        l.lanname,
        p.prosrc AS body,
        p.proisstrict AS is_strict,
        w.names,
        ${version < numbersSince * 10_000} AS has_numbers
      FROM pg_proc p
      JOIN pg_language l ON l.oid = p.prolang
      CROSS JOIN (
        SELECT ARRAY(
          SELECT DISTINCT proname::text
          FROM pg_proc
          WHERE oid >= '${firstNormalOid}' AND proname = ANY ('{${words.join(',')}}')
        ) AS names
      ) w
      WHERE p.oid >= '${firstNormalOid}'
        AND (l.lanname = 'sql' OR l.lanname = 'plpgsql')
        AND (${tests.join(' OR ')})
        AND ${isNotMemberSql('pg_proc', 'p.oid')}
      ORDER BY 2
    `;
  },
  decode: (rows) =>
    rows.flatMap((row) => {
      const body = decodeText(row, 'body');
      const tokens = tokenizeBody(body);
      const own = { oid: decodeText(row, 'oid'), signature: decodeText(row, 'signature') };
      const isStrict = decodeBoolean(row, 'is_strict');
      const number = decodeBoolean(row, 'has_numbers') ? tokens.find(runsIntoWord) : undefined;
      const names = decodeTextArray(row, 'names');
      const found = findKeywords(tokens, body, row.lanname === 'sql' ? 'sql' : 'plpgsql', names);
      return [
        ...(number === undefined ? [] : [{ ...own, text: number.text, since: numbersSince, fails: !isStrict }]),
        ...found.map((one) => ({ ...own, ...one, fails: one.fails && !isStrict })),
      ];
    }),
  absent: [],
};

/** `1and` and `$1and`, and not `1..length`; hexadecimal numbers and `_` between digits are numbers since PostgreSQL 16. */
function runsIntoWord({ kind, text }: SqlToken): boolean {
  if (kind !== 'symbol' || /^(?:0[xob][\da-f_]+|\d+(?:_\d+)+)$/i.test(text)) return false;
  return text.startsWith('$')
    ? /^\$\d+[a-z_]/i.test(text)
    : text.split('..').some((part) => /^\.?\d/.test(part) && /[a-z_]/i.test(part.replace(/^\d*\.?\d*(?:e\d*)?/i, '')));
}

/** Calls without a schema of functions that users gave the name of a later keyword. */
function findKeywords(
  tokens: readonly SqlToken[],
  body: string,
  language: 'sql' | 'plpgsql',
  names: readonly string[],
): readonly Pick<LaterSyntax, 'text' | 'since' | 'fails'>[] {
  if (names.length === 0) return [];
  const certain = new Set(findReferences(body, language).flatMap((one) => (one.certain ? [one.name] : [])));
  return laterKeywords.flatMap(({ since, words }) =>
    words
      .filter((word) => names.includes(word))
      .flatMap((word) => {
        const at = tokens.findIndex(
          (token, index) =>
            token.kind === 'word' &&
            !token.quoted &&
            token.text === word &&
            isSqlSymbol(tokens[index + 1], '(') &&
            !isSqlSymbol(tokens[index - 1], '.'),
        );
        return at < 0 ? [] : [{ text: word, since, fails: certain.has(word) && isRejected(tokens, at) }];
      }),
  );
}

/** Whether the arguments are none that the later grammar accepts. */
function isRejected(tokens: readonly SqlToken[], at: number): boolean {
  const [name] = [tokens[at]?.text];
  let [depth, comma] = [0, -1];
  for (let next = at + 1; next < tokens.length; next += 1) {
    const token = tokens[next];
    if (isSqlSymbol(token, '(')) depth += 1;
    else if (isSqlSymbol(token, ')')) depth -= 1;
    else if (isSqlSymbol(token, ',') && depth === 1 && comma < 0) comma = next;
    if (depth === 0) break;
  }
  if (name === 'merge_action' || name === 'system_user') return true;
  if (name === 'json_scalar' || name === 'json_serialize' || name === 'json_objectagg') return comma > 0;
  if (name !== 'json_value' && name !== 'json_exists' && name !== 'json_query') return false;
  const path = tokens[comma + 1];
  return comma < 0 || (path?.kind === 'string' && isNoPath(path.text));
}

/** A JSON path begins with `$` or a literal. */
function isNoPath(text: string): boolean {
  return /^[a-z_][\w.]*$/i.test(text) && !/^(?:true|false|null|strict|lax|exists)\b/i.test(text);
}

export const functionSyntaxCheck = declareDatabaseCheck({
  id: 'function-syntax',
  title: 'the target can parse every function body',
  headline: 'The target cannot parse a function body',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { laterSyntax: laterSyntaxQuery, functionUses: functionUsesQuery, functionBodies: bodiesQuery },
  evaluate({ laterSyntax, functionUses, functionBodies }, database, _facts, options) {
    const target = targetVersionNumber(options);
    const found = laterSyntax.filter(({ since }) => target === undefined || since * 10_000 <= target);
    if (found.length === 0) return passOutcome('all');
    const reach = createRelationReader(functionBodies);
    const stored = functionUses.filter(({ filled, kind }) => filled && kind !== 'refresh' && kind !== 'event');
    const uses = stored.flatMap((use) => {
      const reached = new Set([use.calls, ...reach(use.calls).bodies.map(({ oid }) => oid)]);
      return found.filter(({ oid }) => reached.has(oid)).map((one) => ({ one, use }));
    });
    const broken = uses.filter(
      ({ one, use }) => target !== undefined && one.fails && one.oid === use.calls && use.kind !== 'trigger',
    );
    const named = broken.length > 0 ? broken : uses;
    const objects =
      named.length > 0
        ? named.map(({ one, use }) => `${one.signature} (${one.text}, since ${one.since}; ${use.name})`)
        : found.map(({ signature, text, since }) => `${signature} (${text}, since ${since})`);
    const listed = [...new Set(objects)];
    const observed = countOf(
      new Set((named.length > 0 ? named.map(({ one }) => one) : found).map(({ oid }) => oid)).size,
      'function',
    );
    const cause =
      'A dump creates a function without parsing its body. Since PostgreSQL 15 a number must end before the next word ("trailing junk after numeric literal"), and since 16 and 17 the names of SQL/JSON functions are keywords: a call without a schema is a "syntax error", or calls the function of PostgreSQL';
    const more = {
      required: 'bodies that the target version can parse',
      objects: limitObjects(listed),
      fix: {
        database,
        by: 'the owner of the functions',
        text: 'Create the functions again, with a space after each number, and with the schema before each name that is a keyword there: public.json_value(…).',
      },
    };
    const detail = (consequence: string) => ({ detail: `${cause}. ${consequence}${unlistedNote(listed)}` });
    if (broken.length > 0) {
      const copies =
        'CHECK constraints, generated columns, domains or indexes call the functions for each row: the copy fails on every attempt.';
      return failOutcome(['continuous', 'dump'], observed, { ...more, ...detail(copies) });
    }
    if (uses.length === 0)
      return warnOutcome(observed, { ...more, ...detail('The functions fail on the target when they are called.') });
    return {
      ...unknownOutcome(observed),
      ...more,
      ...detail('Stored rows are evaluated with these functions; the copy fails if a call reaches such a place.'),
      premise: 'the functions have the same results for the stored rows on the target',
    };
  },
});
