import { limitObjects } from './check.ts';
import { isSqlKeyword, isSqlSymbol, qualifiedNameAt, type SqlToken, tokenizeBody } from './function-body/tokenize.ts';
import { suggestExpressionQueries } from './owner-queries.ts';
import type { AlteredDictionary, CallableObject, CallableObjects, RowVersion } from './queries/callables.ts';
import type { ObjectBody } from './queries/function-bodies.ts';
import { isRemovedOperator } from './queries/incompatible-calls.ts';
import type { StoredExpression } from './queries/stored-expressions.ts';
import type { SourceSetting } from './settings.ts';
import { contribMajors, contribStatus } from './target.ts';

/** An expression whose result on the target is not proven to be the one that it had when the row was written. */
interface UnprovenExpression {
  readonly expression: StoredExpression;
  /** Why, as clauses with the objects or functions concerned. */
  readonly reasons: readonly string[];
}

/**
 * Finds the expressions that call something that may have been replaced since their rows were written, or something whose
 * results differ between the releases or libraries of two servers.
 *
 */
export function findUnproven(
  expressions: readonly StoredExpression[],
  callables: CallableObjects,
  bodies: readonly ObjectBody[],
  servers: Servers,
): readonly UnprovenExpression[] {
  const library = createLibrary(callables, bodies);
  return expressions.flatMap((expression) => {
    const reasons = [
      ...replacedObjects(expression, library, callables.isOrderKnown),
      ...alteredTypes(expression, callables.isOrderKnown),
      ...removedOperators(expression, library),
      ...differingResults(expression, library, servers.isOtherRelease),
      ...(servers.hasOtherLetters === true && classesOf(expression, library).has('search')
        ? [
            'since PostgreSQL 18 text search takes letter case from the collation provider of the database, not from libc',
          ]
        : []),
      ...swayedResults(expression, library, servers.settings),
      ...hiddenParts(expression, library),
      ...alteredDictionaries(expression, library, servers.alteredDictionaries),
      ...(callables.alteredSearch.length > 0 && classesOf(expression, library).has('search')
        ? [
            `text search objects of pg_catalog were altered (${callables.alteredSearch.join(', ')}), and are not migrated`,
          ]
        : []),
    ];
    return reasons.length === 0 ? [] : [{ expression, reasons: [...new Set(reasons)] }];
  });
}

/** How the target differs from the source. */
interface Servers {
  /** Whether the target has another major version than the source, or one that is not known. */
  readonly isOtherRelease: boolean;
  /** Whether text search changes other letters to lower case on the target. */
  readonly hasOtherLetters?: boolean;
  /** The settings of the source that a target does not have. */
  readonly settings: readonly SourceSetting[];
  readonly alteredDictionaries: readonly AlteredDictionary[];
}

interface Library {
  readonly byId: ReadonlyMap<string, CallableObject>;
  /** The tokens of the body of a function; empty if it has none. */
  tokens(one: CallableObject): readonly SqlToken[];
  /** The types of the arguments of a function, by their names in pg_type. */
  takes(one: CallableObject): readonly string[];
  /** Whether the body of a function can depend on the setting; each body is read once. */
  isSwayed(one: CallableObject, setting: SourceSetting): boolean;
  /** The object, and all that it calls, directly or by name in a body. */
  reach(id: string): readonly CallableObject[];
}

function createLibrary({ objects }: CallableObjects, bodies: readonly ObjectBody[]): Library {
  const byId = new Map(objects.map((one) => [one.id, one]));
  const byName = new Map<string, CallableObject[]>();
  for (const one of objects) {
    const key = nameKey(one.kind === 'function' || one.kind === 'operator' ? one.kind : 'other', one.name);
    byName.set(key, [...(byName.get(key) ?? []), one]);
  }
  const texts = new Map(bodies.map(({ oid, text, bound }) => [oid, `${text} ${bound}`]));
  const types = new Map(bodies.map((one) => [one.oid, one.types]));
  const oidOf = (one: CallableObject) => one.id.replace(/^.*:/, '');
  const textOf = (one: CallableObject) => (one.kind === 'function' ? (texts.get(oidOf(one)) ?? one.body) : '');
  const lowered = new Map<string, string>();
  const lower = (id: string, text: string): string => {
    const known = lowered.get(id) ?? text.toLowerCase();
    lowered.set(id, known);
    return known;
  };
  const swayed = new Map<string, boolean>();
  const known = new Map<string, readonly SqlToken[]>();
  const tokens = (one: CallableObject): readonly SqlToken[] => {
    const text = textOf(one);
    // Other languages have other quotes, and statements in their strings.
    const isSql = /^(?:sql|plpgsql)?$/.test(one.language);
    const found = known.get(one.id) ?? withStatements(tokenizeBody(isSql ? text : text.replace(/["'`]/g, ' ')));
    known.set(one.id, found);
    return found;
  };
  /** Where the search_path decides, the schema of the function and public count before all others. */
  const candidates = (kind: string, names: readonly string[], homes: ReadonlySet<string>) => {
    const all = byName.get(nameKey(kind, names.at(-1) ?? '')) ?? [];
    const schema = names.at(-2);
    if (schema !== undefined) return all.filter((one) => one.schema === schema);
    // PostgreSQL prefers its own operator or function of that name, and a member of an extension was hardly replaced.
    const meant = all.filter((one) => one.extension === '' || !one.isAlsoBuiltin);
    const near = meant.filter((one) => homes.has(one.schema));
    return near.length === 0 ? meant : near;
  };
  const named = (one: CallableObject, paths: ReadonlySet<string>) => {
    const all = tokens(one);
    const homes = new Set([one.schema, 'public', ...paths]);
    return all.flatMap((token, at) => {
      // A string can be the name of an object: `'public.own'::regconfig`.
      const isString = token.kind === 'string';
      const isQualified = isSqlSymbol(all[at - 1], '.') && all[at - 2]?.kind === 'word';
      const names = isString
        ? qualifiedNameAt(tokenizeBody(token.text), 0)
        : [...(isQualified ? [all[at - 2]?.text ?? ''] : []), token.text];
      if (token.kind === 'symbol') return candidates('operator', names, homes);
      const isCall = isString || isSqlSymbol(all[at + 1], '(');
      return [...(isCall ? candidates('function', names, homes) : []), ...candidates('other', names, homes)];
    });
  };
  const reaches = new Map<string, readonly CallableObject[]>();
  return {
    byId,
    tokens,
    takes: (one) => types.get(oidOf(one)) ?? [],
    isSwayed(one, { name, value }) {
      const key = `${name}\0${one.id}`;
      const earlier = swayed.get(key);
      if (earlier !== undefined) return earlier;
      const text = textOf(one);
      const is =
        text !== '' &&
        !one.sets.includes(name.toLowerCase()) &&
        swayedBy[name]?.(
          {
            text: lower(one.id, text),
            tokens: tokens(one),
            body: { language: one.language, types: types.get(oidOf(one)) ?? [] },
          },
          value,
        ) === true;
      swayed.set(key, is);
      return is;
    },
    reach(id) {
      const start = byId.get(id);
      const earlier = reaches.get(id);
      if (earlier !== undefined) return earlier;
      const reached = new Set(start === undefined ? [] : [start]);
      const paths = new Set<string>();
      // The loop over a Set also visits elements that are added during the loop.
      for (const one of reached) {
        for (const schema of one.path.matchAll(/"((?:[^"]|"")+)"|[^\s,"]+/g)) paths.add(schema[1] ?? schema[0]);
        for (const call of one.calls) {
          const next = byId.get(call);
          if (next !== undefined) reached.add(next);
        }
        for (const next of named(one, paths)) reached.add(next);
      }
      reaches.set(id, [...reached]);
      return [...reached];
    },
  };
}

function nameKey(kind: string, name: string): string {
  return `${kind}\0${name}`;
}

/** A body that composes statements has their parts in strings: the tokens of these follow the string. */
function withStatements(tokens: readonly SqlToken[]): readonly SqlToken[] {
  const isComposing = tokens.some(
    ({ kind, text }) => kind === 'word' && /^(?:execute|prepare|dblink\w*)$|^query_to_/.test(text),
  );
  return isComposing
    ? tokens.flatMap((token) => (token.kind === 'string' ? [token, ...tokenizeBody(token.text)] : [token]))
    : tokens;
}

/**
 * A catalog row that is older than the dependency of the expression on the object has not been written since: CREATE OR
 * REPLACE and ALTER write it anew. The rows of the expression itself (pg_constraint, pg_class) prove nothing, because
 * renaming, CLUSTER ON and ATTACH PARTITION write them anew. The dependency of a generated column proves nothing either,
 * because ALTER TYPE writes it anew and keeps the values; nor does that of an operator class, because ALTER TYPE can keep
 * the index. Those count from the creation of the table.
 */
function replacedObjects(expression: StoredExpression, library: Library, isOrderKnown: boolean): readonly string[] {
  return expression.uses.flatMap(({ on, since }) => {
    const first = library.byId.get(on);
    const isOfTable = expression.kind === 'generated' || (first?.kind === 'operator class' && first.extension === '');
    const from = isOfTable ? expression.age : since;
    return library.reach(on).flatMap((one) => {
      if (isOrderKnown && from !== undefined && one.versions.every((version) => isOlder(version, from))) return [];
      // An index that is not unique can only fail by an error of a function, and not of one that an extension compiled.
      const isCompiled = one.extension !== '' && (one.kind !== 'function' || /^(?:c|internal)$/.test(one.language));
      if (isCompiled && (expression.kind === 'index' || steadyExtensions.test(one.extension))) return [];
      if (one.versions.length === 0) return [];
      const name = describe(one);
      return isOrderKnown
        ? [`${name} was created, replaced or altered later`]
        : [`the catalogs do not show whether ${name} was replaced later`];
    });
  });
}

/**
 * An attribute that was added to a row type, or a label that was renamed, gives stored rows another result. After pg_upgrade
 * all labels would be suspect: those that a function takes, and the function itself is.
 */
function alteredTypes({ kind, shapes, since, age }: StoredExpression, isOrderKnown: boolean): readonly string[] {
  if (kind === 'index') return [];
  const from = kind === 'generated' ? age : since;
  return shapes.flatMap(({ version, isEnum, type }) => {
    if (!isOrderKnown) return isEnum ? [] : [`the catalogs do not show whether type ${type} was altered later`];
    // What the command of the expression itself wrote is no later.
    const isOld = from !== undefined && isOlder(version, { ...from, cmin: from.cmin + 1 });
    return isOld ? [] : [`type ${type} was altered later`];
  });
}

/**
 * What a function finds with the version of an extension here, and not with the one that the target has. An operator
 * class of the extension is found by its name, with the operators of that version.
 */
function removedOperators({ uses }: StoredExpression, library: Library): readonly string[] {
  return uses
    .flatMap(({ on }) => {
      const first = library.byId.get(on);
      return first?.kind === 'operator class' && first.extension !== '' ? [] : library.reach(on);
    })
    .filter(({ kind, name, extension }) => kind === 'operator' && isRemovedOperator(name, extension))
    .map((one) => `newer versions of ${one.extension} have no ${describe(one)}`);
}

/** A function of an extension, such as unaccent(text), finds the dictionary of the extension itself. */
function alteredDictionaries(
  { kind, uses }: StoredExpression,
  library: Library,
  altered: readonly AlteredDictionary[],
): readonly string[] {
  // An index that is not unique is rebuilt with the results of the target.
  if (altered.length === 0 || kind === 'index') return [];
  const reached = new Set(uses.flatMap(({ on }) => library.reach(on)).map(({ extension }) => extension));
  return altered
    .filter(({ extension }) => reached.has(extension))
    .map(
      ({ name, extension }) => `the options of ${name}, a dictionary of the extension ${extension}, are not migrated`,
    );
}

/** What the expression, or a function that it calls, sees of a value that a dump does not write. */
function hiddenParts(expression: StoredExpression, library: Library): readonly string[] {
  if (expression.kind === 'index') return [];
  const reached = new Set(expression.uses.flatMap(({ on }) => library.reach(on)));
  const found = new Set([expression.hidden, ...[...reached].map((one) => hiddenPartOf(one, library))]);
  return [
    ...(found.has('declaration')
      ? ['the text of an XML value may have a declaration (<?xml version="1.0" encoding="UTF-8"?>), which no dump has']
      : []),
    ...(found.has('number') ? ['the object ids of types, labels of enums and other objects differ on the target'] : []),
  ];
}

/** A body with an XML argument that it casts to text, or assigns; results of xpath() have no declaration. */
function hiddenPartOf(one: CallableObject, library: Library): StoredExpression['hidden'] {
  const tokens = library.tokens(one);
  const calls = (names: RegExp) =>
    tokens.some(({ kind, text }, at) => kind === 'word' && names.test(text) && isSqlSymbol(tokens[at + 1], '('));
  if (calls(/^hashenum(?:extended)?$/)) return 'number';
  if (!library.takes(one).includes('xml')) return '';
  const isCast = tokens.some((token, at) => {
    const isBare = isSqlSymbol(tokens[at - 1], ')')
      ? isSqlSymbol(tokens[at - 3], '(')
      : !isSqlSymbol(tokens[at - 1], ']');
    return (
      (isSqlSymbol(token, '::') || (isSqlKeyword(token, 'as') && isSqlSymbol(tokens[at - 2], '('))) &&
      isTextType(tokens[at + 1]) &&
      isBare
    );
  });
  const isAssigned = one.language === 'plpgsql' && !calls(/^(?:xpath|xpath_exists|xmltable|xmlexists)$/);
  return isCast || isAssigned || calls(/^xmlserialize$/) ? 'declaration' : '';
}

/** `cmin` is the number of the command only if no transaction has locked or deleted the row. */
function isOlder(one: RowVersion, other: RowVersion): boolean {
  if (one.xmin !== other.xmin) return one.xmin < other.xmin;
  return one.cmin < other.cmin && one.xmax === 0 && other.xmax === 0;
}

function describe({ kind, schema, name }: CallableObject): string {
  const what = kind === 'configuration' || kind === 'dictionary' ? `text search ${kind}` : kind;
  return `${what} ${schema}.${name}`;
}

/**
 * Results that differ between servers. A list of functions is neither complete nor safe, so these are classes: what
 * PostgreSQL compiles in (`release`), and what the libraries of the operating system decide (`library`).
 */
const classes = {
  search: { by: 'release', text: 'text search' },
  unicode: { by: 'release', text: 'Unicode normalization' },
  number: { by: 'release', text: 'power and transcendental functions' },
  word: { by: 'release', text: 'reserved words' },
  range: { by: 'release', text: 'regular expressions with a range that begins with \\w' },
  extension: { by: 'release', text: 'functions of the extension' },
  // The version of an extension that is not part of PostgreSQL does not follow from the release.
  module: { by: 'library', text: 'functions of the extension' },
  letters: { by: 'library', text: 'upper and lower case' },
  pattern: { by: 'library', text: 'character classes of regular expressions' },
  zone: { by: 'library', text: 'time zone rules' },
  order: { by: 'library', text: 'the order of texts' },
} as const;

type ResultClass = keyof typeof classes;

function differingResults(expression: StoredExpression, library: Library, isOtherRelease: boolean): readonly string[] {
  // An index that is not unique is rebuilt with the results of the target, and a text search document is right there.
  if (expression.kind === 'index' || /^ts(?:vector|query)$/.test(expression.type)) return [];
  const found = classesOf(expression, library);
  // New letters get their other case in later releases; rows that a constraint accepted have none of them.
  if (expression.kind !== 'generated') found.delete('letters');
  return [...found].flatMap(([one, names]) => {
    const { by, text } = classes[one];
    if (by === 'release' && !isOtherRelease) return [];
    const named = [...names].filter((name) => name !== '').join(', ');
    return [
      `${text}${named === '' ? '' : ` (${named})`} can differ ${by === 'release' ? 'between releases' : 'between servers'}`,
    ];
  });
}

/** The classes of results that an expression calls, with the names of the functions. */
function classesOf(expression: StoredExpression, library: Library): Map<ResultClass, Set<string>> {
  const found = new Map<ResultClass, Set<string>>();
  const add = (one: ResultClass, name: string) => found.set(one, (found.get(one) ?? new Set()).add(name));
  for (const text of [...expression.texts, expression.predicate]) classify(tokenizeBody(text), add);
  // With the collation C they are those of ASCII, on every server.
  if (!expression.isLettered) for (const one of ['letters', 'pattern'] as const) found.delete(one);
  if (expression.isOrdered) add('order', '');
  for (const { on } of expression.uses) {
    for (const one of library.reach(on)) {
      classify(library.tokens(one), add);
      if (isUnsteady(one)) add(isContrib(one.extension) ? 'extension' : 'module', one.extension);
    }
  }
  return found;
}

/** A text that settings can sway: an expression, whose constants were read when it was created, or a body, read again. */
interface Swayed {
  readonly text: string;
  readonly tokens: readonly SqlToken[];
  /** Absent for an expression. */
  readonly body?: { readonly language: string; readonly types: readonly string[] };
}

/**
 * Settings of the server, of a database or of a role are not migrated. Only settings that are not usual come here, so a
 * text that may depend on one is not proven.
 */
function swayedResults(
  expression: StoredExpression,
  library: Library,
  settings: readonly SourceSetting[],
): readonly string[] {
  const reached = new Set(settings.length === 0 ? [] : expression.uses.flatMap(({ on }) => library.reach(on)));
  const texts = settings.length === 0 ? [] : [...expression.texts, expression.predicate].map(swayedText);
  return settings.flatMap((setting) => {
    const sways = swayedBy[setting.name];
    // An index that is not unique is rebuilt with the results of the target, unless its function fails there.
    if (sways === undefined || (expression.kind === 'index' && !setting.name.startsWith('plpgsql.'))) return [];
    const called = [...reached].filter((one) => library.isSwayed(one, setting));
    if (called.length === 0 && !texts.some((text) => sways(text, setting.value))) return [];
    const who = called.length === 0 ? 'the result' : called.slice(0, 3).map(describe).join(', ');
    return [`${who} can depend on ${setting.name}, which is ${setting.value} here and is not migrated`];
  });
}

function swayedText(text: string): Swayed {
  return { text: text.toLowerCase(), tokens: tokenizeBody(text) };
}

/** Whether a text converts a value to text. The texts are of others, so this reads tokens: a pattern could take hours. */
function writesText(tokens: readonly SqlToken[]): boolean {
  return tokens.some((token, at) => {
    const next = tokens[at + 1];
    if (token.kind === 'symbol') return token.text === '||' || (token.text === '::' && isTextType(next));
    return token.kind === 'word' && isSqlSymbol(next, '(') && isWriter(token.text);
  });
}

function isTextType(token: SqlToken | undefined): boolean {
  return token?.kind === 'word' && /^(?:text|varchar|character|name|bpchar|char)$/.test(token.text);
}

function isWriter(name: string): boolean {
  return /^(?:cast|concat|concat_ws|format|string_agg|quote_|array_to_)/.test(name) || name.includes('json');
}

/** An expression that writes a text, or a body with a value of the types: it may return it as a text. */
function mayWrite(types: RegExp): (one: Swayed) => boolean {
  return ({ text, tokens, body }) =>
    body === undefined ? writesText(tokens) : types.test(text) || body.types.some((type) => types.test(type));
}

const readsDates = /::\s*(?:date|timestamp)|\b(?:date|timestamp|timestamptz)\s*(?:'|:=)|\bas\s+(?:date|timestamp)/;
const writesDates = mayWrite(/\bdate\b|timestamp|\bnow\s*\(|current_/);

const swayedBy: Readonly<Partial<Record<SourceSetting['name'], (one: Swayed, value: string) => boolean>>> = {
  // What a CHECK constraint itself does with dates is in the check setting-checks.
  DateStyle: (one, value) =>
    one.body !== undefined && (readsDates.test(one.text) || (!/iso/i.test(value) && writesDates(one))),
  IntervalStyle: mayWrite(/interval|\bage\s*\(/),
  array_nulls: ({ text }) => /\[\]|'\{/.test(text),
  bytea_output: mayWrite(/bytea|digest|decode|sha\d|hmac|crypt|convert_to/),
  default_text_search_config: ({ tokens }) => takesDefaultConfiguration(tokens),
  extra_float_digits: mayWrite(/float|double|\breal\b|point|\bbox\b|circle|polygon|path|lseg|line/),
  lc_monetary: ({ text, body }) => /money/.test(`${text} ${body?.types.join(' ')}`),
  lc_numeric: ({ tokens }) => formatsOf(tokens).some((format) => /[09][DG]|[DGL][09]|^L|L$/.test(format)),
  lc_time: ({ tokens }) => formatsOf(tokens).some((format) => /TM/i.test(format)),
  'plpgsql.check_asserts': ({ text, body }) => body?.language === 'plpgsql' && /\bassert\b/.test(text),
  'plpgsql.variable_conflict': ({ text, body }) =>
    body?.language === 'plpgsql' &&
    /\b(?:select|insert|update|delete|for)\b/.test(text) &&
    !/#variable_conflict/.test(text),
  quote_all_identifiers: ({ text }) => /quote_ident|\bformat\s*\(|\breg[a-z]+\b|pg_get_|format_type/.test(text),
  standard_conforming_strings: ({ text, body }) => body !== undefined && text.includes('\\'),
  // An abbreviation is read with a date, or by AT TIME ZONE.
  timezone_abbreviations: (one) =>
    /time\s?zone/.test(one.text) ||
    (one.body !== undefined && /\btime|date/.test(`${one.text} ${one.body.types.join(' ')}`)),
  transform_null_equals: ({ text, body }) => body !== undefined && /=\s*null\b|\bnull\s*=/.test(text),
  xmlbinary: ({ text }) => /\bxml/.test(text),
  xmloption: ({ text }) => /\bxml/.test(text),
};

/** The string constants of a text that calls a function with a format. */
function formatsOf(tokens: readonly SqlToken[]): readonly string[] {
  const calls = tokens.some(({ kind, text }) => kind === 'word' && /^to_(?:char|number|date|timestamp)$/.test(text));
  return calls ? tokens.flatMap(({ kind, text }) => (kind === 'string' ? [text] : [])) : [];
}

/** Whether a call of a text search function names no configuration: it has one argument. */
function takesDefaultConfiguration(tokens: readonly SqlToken[]): boolean {
  const open: { readonly isSearch: boolean; hasMore: boolean }[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'symbol') continue;
    const before = tokens[at - 1];
    if (token.text === '(' || token.text === '[') {
      open.push({ isSearch: before?.kind === 'word' && searchFunctions.test(before.text), hasMore: false });
    } else if (token.text === ',') {
      const call = open.at(-1);
      if (call !== undefined) call.hasMore = true;
    } else if (token.text === ')' || token.text === ']') {
      const call = open.pop();
      if (call?.isSearch === true && !call.hasMore) return true;
    }
  }
  return false;
}

const searchFunctions = /^(?:(?:jsonb?_)?to_tsvector|to_tsquery|(?:plainto|phraseto|websearch_to)_tsquery)$/;

/** Extensions of PostgreSQL whose functions returned the same in 15 and 18. */
const steadyExtensions =
  /^(?:bloom|btree_gin|btree_gist|citext|cube|earthdistance|fuzzystrmatch|hstore|intagg|intarray|isn|lo|pgcrypto|plpgsql|seg|tablefunc|uuid-ossp)$/;

/** What reads the header of a geometry, as the constraints of old PostGIS tables do. */
const steadyFunctions = /^(?:st_)?(?:srid|ndims|coorddim|geometrytype)$/;

function isUnsteady({ extension, name, kind, language }: CallableObject): boolean {
  // A text is cast to ltree by the input function of the type, which accepts more labels since PostgreSQL 16.
  if (extension === 'ltree') return kind === 'type' || /^(?:text2ltree|_?lt(?:x?t?q|_q)_\w+)$/.test(name);
  const isCompiled = kind === 'function' && language === 'c';
  return isCompiled && extension !== '' && !steadyExtensions.test(extension) && !steadyFunctions.test(name);
}

function isContrib(extension: string): boolean {
  return contribStatus(extension, contribMajors.last) !== 'other';
}

const classByWord: readonly (readonly [ResultClass, RegExp])[] = [
  [
    'search',
    /^(?:(?:jsonb?_)?to_tsvector|(?:plainto_|phraseto_|websearch_)?to_tsquery|to_tsquery|ts_(?:lexize|parse|headline))$/,
  ],
  ['letters', /^(?:lower|upper|initcap|casefold)$/],
  ['unicode', /^(?:normalize|is_normalized|unicode_assigned)$/],
  [
    'number',
    /^(?:pow(?:er)?|exp|ln|log(?:10)?|cbrt|erfc?|l?gamma|a?(?:sin|cos|tan)[dh]?|cotd?|atan2d?|numeric_(?:power|exp|ln|log)|d(?:pow|exp|log1|log10|cbrt))$/,
  ],
  ['word', /^quote_ident$/],
];

function classify(tokens: readonly SqlToken[], add: (one: ResultClass, name: string) => void): void {
  const matches = tokens.some((token, at) => isMatch(token, tokens[at + 1]));
  for (const [at, token] of tokens.entries()) {
    const next = tokens[at + 1];
    if (token.kind === 'string') {
      const isPattern = matches || /\blike_regex\b/.test(token.text);
      if (isPattern && characterClass.test(token.text)) add('pattern', '');
      if (isPattern && hasWordRange(token.text)) add('range', '');
      continue;
    }
    if (token.kind === 'symbol') {
      if (token.text === '^' || token.text === '||/') add('number', token.text);
      continue;
    }
    const isOfUser = isSqlSymbol(tokens[at - 1], '.') && tokens[at - 2]?.text !== 'pg_catalog';
    if (isSqlSymbol(next, '(') && !isOfUser) {
      for (const [one, names] of classByWord) if (names.test(token.text)) add(one, token.text);
      if (token.text === 'timezone' && !isFixedZone(tokens[at + 2])) add('zone', zoneName(tokens[at + 2]));
    }
    if (isSqlKeyword(token, 'normalized')) add('unicode', 'IS NORMALIZED');
    const isZone = isSqlKeyword(token, 'zone') && isSqlKeyword(tokens[at - 2], 'at');
    if (isZone && !isFixedZone(next)) add('zone', zoneName(next));
  }
}

/** Whether a token applies a regular expression. */
function isMatch(token: SqlToken, next: SqlToken | undefined): boolean {
  if (token.kind === 'symbol') return /^!?~\*?$/.test(token.text);
  if (token.kind !== 'word') return false;
  return (
    isSqlKeyword(token, 'similar') || (/^(?:regexp_|substring$|similar_)/.test(token.text) && isSqlSymbol(next, '('))
  );
}

/** Letters, words and punctuation of all scripts; digits and spaces are the same everywhere. */
const characterClass = /\\[wWmMyY]|\[:(?:\^?alpha|alnum|upper|lower|graph|print|punct|word|[<>]):\]/;

/**
 * As in `[\w-_]`: PostgreSQL 14 and newer refuse it. Before, it was a range from the underscore. The texts are of others, so
 * they are read once from left to right.
 */
export function hasWordRange(text: string): boolean {
  let open: number | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '\\') {
      if (open !== undefined && /^\\w-[_`a-z{|}~\u0080-\uffff]/.test(text.slice(at, at + 4))) return true;
      at += 1;
    } else if (open === undefined) {
      if (sign === '[') open = text[at + 1] === '^' ? at + 1 : at;
    } else if (sign === '[') {
      // A class such as [:digit:].
      at += (/^\[([:.=])\w{1,20}\1\]/.exec(text.slice(at, at + 26))?.[0].length ?? 1) - 1;
    } else if (sign === ']' && at > open + 1) open = undefined;
  }
  return false;
}

/** UTC, or an offset from it, which no rule changes. */
function isFixedZone(token: SqlToken | undefined): boolean {
  return (
    token?.kind === 'string' &&
    /^(?:(?:etc\/)?(?:utc|gmt|uct|zulu)(?:[+-]?\d+)?|z|[+-]?\d[\d: a-z]*|<.*)$/i.test(token.text)
  );
}

function zoneName(token: SqlToken | undefined): string {
  return token?.kind === 'string' ? token.text : '';
}

/** The part of a finding that names the expressions and the reasons, and the queries that compare the results. */
export function describeUnproven(found: readonly UnprovenExpression[]): {
  readonly objects: readonly string[];
  readonly queries: string;
} {
  return {
    objects: limitObjects(found).map(({ expression, reasons }) => `${expression.name} (${reasons.join('; ')})`),
    queries: suggestExpressionQueries(found.map(({ expression }) => expression)),
  };
}
