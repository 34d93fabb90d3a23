import { countOf } from '../../../../base/text.ts';
import { passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { findReferences, type NameReference } from '../function-body/names.ts';
import {
  closingParentheses,
  isInputByPath,
  isSqlKeyword,
  isSqlSymbol,
  type SqlToken,
  tokenizeBody,
} from '../function-body/tokenize.ts';
import { createRelationReader, type FunctionReads, findUnresolved } from '../function-body/unresolved-names.ts';
import {
  bodiesQuery,
  type NamedObject,
  namedObjectsQuery,
  type ObjectBody,
  pathOperatorsQuery,
} from '../queries/function-bodies.ts';
import { type FunctionUse, functionUsesQuery } from '../queries/function-uses.ts';
import { otherRolesTextSettingsQuery, type RoleSetting } from '../queries/roles.ts';
import { targetVersionNumber } from '../source-facts.ts';

/**
 * The first word of a function body whose value belongs to a server, a session or a moment: settings, role, clock, random
 * values, sequences, object ids, catalogs, or a composed query. undefined: none was found. The result is a heuristic over the
 * text.
 */
function findMutableWord(text: string): string | undefined {
  const tokens = tokenizeBody(text);
  const found = tokens.find((token, at) => {
    if (token.kind === 'string') return momentNames.test(token.text.trim());
    if (token.kind !== 'word') return false;
    if (!token.quoted && environmentWords.test(token.text)) return true;
    if (token.text === 'last_value' && !isSqlSymbol(tokens[at + 1], '(')) return true;
    if (isInputByPath(token, at, tokens)) return true;
    return isSqlSymbol(tokens[at + 1], '(') && environmentFunctions.test(token.text);
  });
  return found?.text;
}

/** Words that PostgreSQL converts to the current date or time when it reads a date or timestamp. */
const momentNames = /^(?:now|today|tomorrow|yesterday)$/i;

const environmentWords =
  /^(?:current_(?:user|role|catalog|schema|date|time|timestamp)|session_user|system_user|localtime(?:stamp)?|tableoid|ctid|xmin|xmax|execute|reg(?:class|type|proc|procedure|oper|operator|role|namespace|collation))$/;

/** Excludes pg_typeof and pg_input_is_valid, whose results depend on their arguments and on the search_path. */
const environmentFunctions =
  /^(?:current_(?:setting|schemas?|database|query)|getpgusername|array_(?:shuffle|sample)|row_security_active|format_type|set_config|version|now|(?:clock|statement|transaction)_timestamp|timeofday|random\w*|gen_random_\w+|gen_salt|uuid_generate_v(?:1|1mc|4)|uuidv[47]|nextval|currval|lastval|setval|txid_\w+|inet_\w+|has_\w+_privilege|to_reg\w+|(?:obj|col|shobj)_description|(?:query|table|cursor|schema|database)_to_xml\w*|dblink\w*|lo_\w+|pg_(?!typeof$|input_is_valid$|input_error_info$)\w+)$/;

export const functionResultsCheck = declareDatabaseCheck({
  id: 'function-results',
  title: 'functions that are called for each row return the same value on every server',
  headline: 'A function that is called for each row can return another value on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    functionUses: functionUsesQuery,
    functionBodies: bodiesQuery,
    meanings: namedObjectsQuery,
    lostOperators: pathOperatorsQuery,
    textSettings: otherRolesTextSettingsQuery,
  },
  evaluate({ functionUses, functionBodies, meanings, lostOperators, textSettings }, database, _facts, options) {
    const reach = createRelationReader(functionBodies);
    // Changes that are applied later fire a trigger too.
    const isStored = ({ filled, kind }: FunctionUse) => kind === 'trigger' || (filled && storedKinds.has(kind));
    const uses = functionUses.filter((use) => isStored(use) || (use.filled && use.kind === 'index'));
    // If a name is not found and an exception handler catches the error, the function returns another result.
    const unresolved = findUnresolved(uses, functionBodies, meanings, lostOperators);
    const namesOf = (isReplaced: boolean) =>
      new Map(unresolved.filter((one) => one.isReplaced === isReplaced).map(({ use, name }) => [use, name]));
    const [caught, replaced] = [namesOf(false), namesOf(true)];
    const target = targetVersionNumber(options);
    const hidden = meanings.filter(({ kind, name, isReplaced }) => {
      const since = isReplaced ? undefined : namesOfLaterRelease.get(`${kind} ${name}`);
      return since !== undefined && (target === undefined || since * 10_000 <= target);
    });
    const own = textSettings.filter((one) => one.database === undefined || one.database === database);
    const found = uses.flatMap((use) => {
      const reached = reach(use.calls);
      const ofUser = nameOfUser(reached, meanings);
      if (ofUser !== undefined) return [`${use.name} (${ofUser} of the schema "$user")`];
      if (!isStored(use)) return [];
      const isCaught = reached.bodies.some(({ text }) => exceptionHandler.test(text));
      const because =
        environmentUseOf(reached) ??
        replaced.get(use.name) ??
        hiddenNameOf(reached, hidden) ??
        (isCaught ? caught.get(use.name) : undefined) ??
        settingOf(reached, own) ??
        (reached.bodies.some(comparesCitext) ? 'citext' : undefined);
      return because === undefined ? [] : [`${use.name} (${because})`];
    });
    const objects = [...new Set(found)];
    if (objects.length === 0) return passOutcome('all');
    return {
      ...unknownOutcome(`${countOf(objects.length, 'use')} of functions that depend on more than their arguments`),
      premise: 'these functions return the same values on the target as they did when the rows were stored',
      required: 'functions that depend on their arguments only',
      detail: `The target calls these functions again for every copied row, with its own settings, roles, object ids and an empty search_path. A generated column then has another value without an error; a row that violates a constraint there is not copied: "new row for relation … violates check constraint", "duplicate key value violates unique constraint".${unlistedNote(objects)}`,
      objects: limitObjects(objects),
      fix: {
        database,
        by: 'the owner of the functions, or a superuser',
        text: 'Change the functions so that they depend on their arguments only, or drop the constraints and indexes until the cut-over and change generated columns to ordinary ones. Run `cloudctl db rehearse` to see whether the rows are equal.',
      },
    };
  },
});

/**
 * Uses of a function (such as in a constraint) in which its result decides which rows or values are stored. In an
 * ordinary index the result changes only the index entries; in the condition of a trigger it decides whether it fires.
 */
const storedKinds: ReadonlySet<FunctionUse['kind']> = new Set([
  'check',
  'domain',
  'generated',
  'partition',
  'support',
  'unique',
]);

const exceptionHandler = /\bexception\s+when\b/i;

function environmentUseOf({ bodies, reads }: FunctionReads): string | undefined {
  for (const { text, bound, hasRole } of bodies) {
    if (hasRole) return 'SET role';
    const word = findMutableWord(`${text} ${bound}`);
    if (word !== undefined) return word;
    if (writesTypeName(`${text} ${bound}`)) return 'pg_typeof';
  }
  return reads.find(({ schema, name }) => /^(?:pg_|information_schema$)/.test(schema ?? name))?.name;
}

/**
 * Whether a body writes the name of a type, which has a schema if the search_path has not. To compare types is safe, also
 * with the name of one of PostgreSQL, and so is what RAISE says.
 */
function writesTypeName(text: string): boolean {
  if (!/pg_typeof/i.test(text)) return false;
  const tokens = tokenizeBody(text);
  const ends = closingParentheses(tokens);
  return tokens.some((token, at) => {
    const end = ends.get(at + 1);
    if (!isSqlKeyword(token, 'pg_typeof') || end === undefined) return false;
    const statement = tokens.slice(Math.max(0, at - longestStatement), at);
    const isSaid = statement
      .slice(statement.findLastIndex((one) => isSqlSymbol(one, ';')) + 1)
      .some((one) => isSqlKeyword(one, 'raise'));
    return (
      !isSaid &&
      !isComparedWithType(tokens[end + 1], tokens[end + 2]) &&
      !isComparedWithType(tokens[at - 1], tokens[at - 2])
    );
  });
}

/** In tokens; a body may be hostile. */
const longestStatement = 100;

/** Whether a comparison follows, and what is compared is no name that only a search_path finds. */
function isComparedWithType(operator: SqlToken | undefined, other: SqlToken | undefined): boolean {
  const isComparison =
    ['=', '<>', '!='].some((symbol) => isSqlSymbol(operator, symbol)) ||
    ['is', 'from', 'in'].some((word) => isSqlKeyword(operator, word));
  return isComparison && (other?.kind !== 'string' || builtinType.test(other.text));
}

const builtinType =
  /^(?:"char"|bigint|bit|boolean|bytea|character(?: varying)?|cidr|date|double precision|inet|integer|interval|jsonb?|money|name|numeric|oid|point|real|smallint|text|times?(?:tamp)? with(?:out)? time zone|timestamp|timestamptz|tsvector|uuid|xml)(?:\[\])?$/;

/**
 * Functions and text search configurations that a release added to pg_catalog, which is searched before the schemas of a
 * search_path. Left out are names that PostgreSQL 12 has for other arguments, such as random().
 */
const namesOfLaterRelease: ReadonlyMap<string, number> = new Map(
  [
    {
      since: 13,
      functions: 'gcd gen_random_uuid is_normalized jsonb_set_lax lcm min_scale normalize to_regcollation trim_scale',
      configurations: 'greek',
    },
    {
      since: 14,
      functions:
        'bit_count bit_xor date_bin extract multirange range_agg range_intersect_agg string_to_table trim_array unistr',
      configurations: 'armenian basque catalan hindi serbian yiddish',
    },
    { since: 15, functions: 'regexp_count regexp_instr regexp_like regexp_substr', configurations: '' },
    {
      since: 16,
      functions:
        'any_value array_sample array_shuffle date_add date_subtract erf erfc json_agg_strict json_object_agg_strict json_object_agg_unique jsonb_agg_strict jsonb_object_agg_strict jsonb_object_agg_unique random_normal',
      configurations: '',
    },
    {
      since: 17,
      functions:
        'icu_unicode_version jsonb_populate_record_valid to_bin to_oct to_regtypemod unicode_assigned unicode_version uuid_extract_timestamp uuid_extract_version xmltext',
      configurations: '',
    },
    {
      since: 18,
      functions: 'array_reverse array_sort casefold crc32 crc32c gamma lgamma uuidv4 uuidv7',
      configurations: 'estonian',
    },
  ].flatMap(({ since, functions, configurations }) => [
    ...functions.split(' ').map((name) => [`function ${name}`, since] as const),
    ...configurations.split(' ').map((name) => [`text search configuration ${name}`, since] as const),
  ]),
);

/** A name without a schema in one of the functions, which a search_path of the function resolves on the source alone. */
function hiddenNameOf({ bodies }: FunctionReads, hidden: readonly NamedObject[]): string | undefined {
  if (hidden.length === 0) return undefined;
  const references = bodies.flatMap(({ text, language }) => findReferences(text, language));
  return references.find(
    ({ kind, schema, name }) => schema === undefined && hidden.some((one) => one.kind === kind && one.name === name),
  )?.name;
}

/**
 * A name that a search_path finds in the schema of the role alone, or in that schema first: the role that copies the
 * rows has another one. A function without a search_path is called with that of its caller.
 */
function nameOfUser({ bodies }: FunctionReads, meanings: readonly NamedObject[]): string | undefined {
  const paths = bodies.flatMap(({ userPath }) => (userPath === undefined ? [] : tokenizeBody(userPath)));
  if (paths.length === 0) return undefined;
  const isElsewhere = ({ kind, name, schema }: NameReference) =>
    schema === undefined &&
    meanings.some(
      (one) =>
        one.kind === kind && one.name === name && !one.isReplaced && !paths.some(({ text }) => text === one.schema),
    );
  return bodies
    .filter(({ hasPath, userPath }) => !hasPath || userPath !== undefined)
    .flatMap(({ text, language }) => findReferences(text, language))
    .find(isElsewhere)?.name;
}

/** Without a search_path, PostgreSQL finds the operators of text for citext, and letter case counts. */
function comparesCitext({ text, types, hasPath }: ObjectBody): boolean {
  const isOfCitext = types.includes('citext') || /\bcitext\b/i.test(text);
  return isOfCitext && !hasPath && /[=<>~]|\b(?:in|i?like|similar|regexp_\w+|replace|strpos)\b/i.test(text);
}

/** The setting of another role, with its value, with which one of the functions reads or writes a value. */
function settingOf({ bodies }: FunctionReads, settings: readonly RoleSetting[]): string | undefined {
  const found = settings.find(({ name }) =>
    bodies.some(
      ({ text, bound, types, hasZone }) =>
        !(name === 'timezone' && hasZone) && wordsOfSetting[name]?.test([text, bound, ...types].join(' ')),
    ),
  );
  return found === undefined ? undefined : `${found.name} ${found.value} of the role ${found.role}`;
}

/** What a function that depends on a setting contains; it may contain it for another reason. */
const wordsOfSetting: Readonly<Record<string, RegExp>> = {
  array_nulls: /\[\]|array|'\{/i,
  bytea_output: /bytea|convert_to|decode|digest|encrypt|hmac|sha\d|_send\b/i,
  datestyle: /date|time|interval/i,
  default_text_search_config: /tsvector|tsquery|\bts_/i,
  extra_float_digits: /float|double|real|point|circle|box|path|polygon/i,
  intervalstyle: /interval|\bage\b/i,
  quote_all_identifiers: /\breg|quote_ident|format/i,
  timezone: /^(?![\s\S]*(?:at\s+time\s+zone|timezone\s*\())[\s\S]*(?:date|time)/i,
  timezone_abbreviations: /time/i,
  transform_null_equals: /=\s*null|null\s*=/i,
  xmlbinary: /xml/i,
};
