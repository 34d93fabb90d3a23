import { expressionOf } from './expressions.ts';
import { createRandomSource, type RandomSource } from './random-source.ts';

/** A table with some mutations of the catalog. All of it is in the schema `name`, so that messages name the table. */
export interface MutatedTable {
  readonly name: string;
  /** Repeats the table, together with its number. */
  readonly seed: number;
  /** `check`, `generated column` and the like. */
  readonly kinds: readonly string[];
  readonly statements: readonly string[];
  /** Of the application, while the table is replicated. */
  readonly app: readonly string[];
}

/** The table of that number. Each has a seed of its own, so that one of many can be made again alone. */
export function mutatedTable(seed: number, number: number): MutatedTable {
  const own = Math.imul(seed, 1_000_003) + number;
  const random = createRandomSource(own);
  const name = `m${number}`;
  const kinds = [random.pick(mutationKinds), ...(random.oneIn(3) ? [random.pick(mutationKinds)] : [])];
  const isPartitioned = kinds.includes('partition key');
  const parts = kinds.flatMap((kind, at) => mutations[kind]({ schema: name, at, random }));
  const of = (step: Step) => parts.flatMap((part) => (part[0] === step ? [part[1]] : []));
  const key = of('partition key')[0];
  const table = `CREATE TABLE t (id int${isPartitioned ? '' : ' PRIMARY KEY'}, n int NOT NULL, w text DEFAULT 'w', c int)`;
  const rows = [1, 2, 3].map((id) => `(${id}, ${random.pick([0, 1, 5, 40, 86_400])}, ${random.pick(texts)})`);
  return {
    name,
    seed,
    kinds,
    statements: [
      `CREATE SCHEMA ${name}`,
      `SET LOCAL search_path = ${name}${random.oneIn(2) ? ', public' : ''}`,
      ...helpers,
      ...of('before'),
      key === undefined ? table : `${table} PARTITION BY ${key}`,
      ...(key === undefined
        ? []
        : [
            // Without another partition the key is not computed for the rows of this one.
            `CREATE TABLE t_one PARTITION OF t FOR VALUES ${key.startsWith('LIST') ? 'IN (-9)' : 'FROM (-9) TO (-5)'}`,
            'CREATE TABLE t_rest PARTITION OF t DEFAULT',
            'ALTER TABLE t_one REPLICA IDENTITY FULL',
            'ALTER TABLE t_rest REPLICA IDENTITY FULL',
          ]),
      ...(random.oneIn(2) ? of('table') : []),
      `INSERT INTO t (id, n, w) VALUES ${rows.join(', ')}`,
      ...of('rows'),
      ...of('table'),
      ...of('after'),
      // The last random choices, so that a seed makes the same tables as before they were added.
      ...replacements(of('before'), random),
      ...additions(of('before'), random),
    ].filter((statement, at, all) => all.indexOf(statement) === at),
    app: [
      `SET search_path = ${name}, public; INSERT INTO ${name}.t (id, n, w) VALUES (1000, 7, 'new')`,
      `SET search_path = ${name}, public; UPDATE ${name}.t SET w = 'changed' WHERE id = 1`,
      `SET search_path = ${name}, public; DELETE FROM ${name}.t WHERE id = 2`,
    ],
  };
}

const texts = ["'a'", "'Éa'", "''", 'NULL', "'42'", "'2020-02-03'"];

/** In every fourth table, a function gets another body after the rows were stored. */
function replacements(created: readonly string[], random: RandomSource): readonly string[] {
  const own = created.flatMap((statement) => /^CREATE FUNCTION ([fg]\d+)\(int\)/.exec(statement)?.[1] ?? []);
  if (!random.oneIn(4)) return [];
  const [name, body] = [random.pick([...own, 'helper']), random.pick(['$1 + 7', '1', '-5', 'NULL::int'])];
  return [`CREATE OR REPLACE FUNCTION ${name}(int) RETURNS int IMMUTABLE LANGUAGE sql AS $f$SELECT ${body}$f$`];
}

/** In every eighth table, what changes the meaning of older definitions or rows: an overload, or the form of a stored value. */
function additions(created: readonly string[], random: RandomSource): readonly string[] {
  if (!random.oneIn(8)) return [];
  const own = created.flatMap((statement) => /^CREATE FUNCTION ([fg]\d+)\(int\)/.exec(statement)?.[1] ?? []);
  const name = random.pick([...own, 'helper']);
  const long = "UPDATE t SET w = repeat('some words ', 2000) WHERE id = 3";
  return random.pick([
    [`CREATE FUNCTION ${name}(int, int DEFAULT 0) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 + $2'`],
    [`CREATE FUNCTION ${name}(anyelement) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 3'`],
    [long, 'CREATE INDEX ON t (w)', 'ALTER TABLE t ALTER w SET STORAGE EXTERNAL'],
    [long, 'ALTER TABLE t ALTER w SET STORAGE PLAIN'],
    [long, 'ALTER TABLE t ADD CHECK (pg_column_size(w) < 4000)'],
    ['CREATE TABLE child (parent int REFERENCES t ON DELETE CASCADE)', 'DELETE FROM t WHERE id = 1'],
  ]);
}

/** What the bodies of functions refer to. */
const helpers = [
  "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
  'CREATE TABLE kinds (id int PRIMARY KEY, name text)',
  "INSERT INTO kinds VALUES (0, 'none'), (1, 'one'), (5, 'five')",
  'CREATE SEQUENCE numbers',
  "CREATE FUNCTION helper(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 * 2'",
  "CREATE FUNCTION add(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 + $2'",
  'CREATE OPERATOR #+# (LEFTARG = int, RIGHTARG = int, FUNCTION = add)',
];

/** Before the table is created; its partition key; on the table before or after its rows; rows; after everything else. */
type Step = 'before' | 'partition key' | 'table' | 'rows' | 'after';
type Part = readonly [step: Step, statement: string];

interface MutationContext {
  readonly schema: string;
  /** Makes names unique. */
  readonly at: number;
  readonly random: RandomSource;
}

/** A function with a random body, and how an expression calls it; or an expression alone. */
function computed(
  context: MutationContext,
  argument: string,
): { readonly parts: readonly Part[]; readonly call: string } {
  const { schema, at, random } = context;
  if (random.oneIn(5)) return { parts: [], call: expressionOf(random, schema, argument) };
  const name = `f${at}`;
  const expression = expressionOf(random, schema, '$1');
  const isWrapped = random.oneIn(6);
  const [language, body] = random.pick([
    ['sql', `AS $f$SELECT ${expression}$f$`],
    ['sql', `AS $f$SELECT ${expression}$f$`],
    ['sql', `RETURN ${expression}`],
    ['plpgsql', `AS $f$BEGIN RETURN ${expression}; END$f$`],
    ['plpgsql', `AS $f$DECLARE r int; BEGIN SELECT ${expression} INTO r; RETURN r; END$f$`],
    ['plpgsql', `AS $f$BEGIN RETURN ${expression}; EXCEPTION WHEN OTHERS THEN RETURN 0; END$f$`],
    ['plpgsql', `AS $f$BEGIN IF $1 > 1000000 THEN RETURN ${expression}; END IF; RETURN $1; END$f$`],
    ['plpgsql', `AS $f$DECLARE r int; BEGIN EXECUTE 'SELECT ' || $1 INTO r; RETURN r; END$f$`],
    [
      'plpgsql',
      "AS $f$DECLARE r int; BEGIN EXECUTE format('SELECT count(*)::int FROM %I', 'kinds') INTO r; RETURN r; END$f$",
    ],
  ] as const);
  const options = [
    random.pick(['IMMUTABLE', 'IMMUTABLE', 'IMMUTABLE', 'STABLE', '']),
    random.oneIn(4) ? 'STRICT' : '',
    random.oneIn(8) ? 'SECURITY DEFINER' : '',
    random.oneIn(8) ? `SET search_path = ${schema}` : '',
    random.oneIn(10) ? "SET timezone = 'Asia/Tokyo'" : '',
  ];
  const parts: Part[] = [
    [
      'before',
      `CREATE FUNCTION ${name}(int) RETURNS int LANGUAGE ${language} ${options.filter((one) => one !== '').join(' ')} ${body}`,
    ],
  ];
  if (!isWrapped) return { parts, call: `${name}(${argument})` };
  const inner = random.pick([`${name}($1)`, `${schema}.${name}($1)`]);
  parts.push(['before', `CREATE FUNCTION g${at}(int) RETURNS int IMMUTABLE LANGUAGE sql AS $f$SELECT ${inner}$f$`]);
  return { parts, call: `g${at}(${argument})` };
}

/** A condition of a computed value: nearly always true, or that it is what was stored. */
function condition({ random }: MutationContext, call: string, stored: string | undefined): string {
  if (stored !== undefined && random.oneIn(2)) return `${stored} = ${call}`;
  return random.pick([`${call} IS NOT NULL`, `${call} >= 0`, `${call} < 2000000000`]);
}

type MutationKind =
  | 'check'
  | 'generated column'
  | 'index expression'
  | 'index predicate'
  | 'domain'
  | 'partition key'
  | 'operator class'
  | 'statistics object'
  | 'trigger'
  | 'view'
  | 'policy'
  | 'default'
  | 'internal function';

const mutations: Readonly<Record<MutationKind, (context: MutationContext) => readonly Part[]>> = {
  check(context) {
    const { parts, call } = computed(context, 'n');
    const valid = context.random.oneIn(6) ? ' NOT VALID' : '';
    return [
      ...parts,
      ['rows', `UPDATE t SET c = ${call}`],
      ['table', `ALTER TABLE t ADD CONSTRAINT check${context.at} CHECK (${condition(context, call, 'c')})${valid}`],
    ];
  },
  'generated column'(context) {
    const { parts, call } = computed(context, 'n');
    return [...parts, ['table', `ALTER TABLE t ADD g${context.at} int GENERATED ALWAYS AS (${call}) STORED`]];
  },
  'index expression'(context) {
    const { parts, call } = computed(context, 'n');
    const unique = context.random.oneIn(3) ? 'UNIQUE ' : '';
    return [...parts, ['table', `CREATE ${unique}INDEX i${context.at} ON t ((${call})${unique === '' ? '' : ', id'})`]];
  },
  'index predicate'(context) {
    const { parts, call } = computed(context, 'n');
    return [...parts, ['table', `CREATE INDEX i${context.at} ON t (n) WHERE ${condition(context, call, undefined)}`]];
  },
  domain(context) {
    const { parts, call } = computed(context, 'VALUE');
    const type = context.random.pick(['d', 'd', 'd[]']).replace('d', `d${context.at}`);
    const value = type.endsWith(']') ? 'ARRAY[n]' : 'n';
    return [
      ...parts,
      ['before', `CREATE DOMAIN d${context.at} AS int CHECK (${condition(context, call, undefined)})`],
      ['after', `ALTER TABLE t ADD v${context.at} ${type}`],
      ['after', `UPDATE t SET v${context.at} = ${value}`],
    ];
  },
  'partition key'(context) {
    const { parts, call } = computed(context, 'n');
    return [...parts, ['partition key', `${context.random.pick(['LIST', 'RANGE'])} ((${call}))`]];
  },
  'operator class'(context) {
    const { parts, call } = computed(context, '$1');
    const { at, random } = context;
    const unique = random.oneIn(3) ? 'UNIQUE ' : '';
    return [
      ...parts,
      [
        'before',
        `CREATE FUNCTION compare${at}(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS $f$SELECT btint4cmp($1, $2) + 0 * coalesce(${call}, 0)$f$`,
      ],
      [
        'before',
        `CREATE OPERATOR CLASS by${at} FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compare${at}(int, int)`,
      ],
      ['table', `CREATE ${unique}INDEX o${at} ON t (id by${at})`],
    ];
  },
  'statistics object'(context) {
    const { parts, call } = computed(context, 'n');
    return [...parts, ['table', `CREATE STATISTICS s${context.at} ON (${call}), id FROM t`], ['after', 'ANALYZE t']];
  },
  view(context) {
    const { parts, call } = computed(context, 'n');
    const [kind, data] = context.random.pick([
      ['VIEW', ''],
      ['MATERIALIZED VIEW', ' WITH NO DATA'],
    ] as const);
    return [...parts, ['table', `CREATE ${kind} v${context.at} AS SELECT id, ${call} AS x FROM t${data}`]];
  },
  policy(context) {
    const { parts, call } = computed(context, 'n');
    return [
      ...parts,
      ['table', `CREATE POLICY p${context.at} ON t USING (${condition(context, call, undefined)})`],
      ['after', 'ALTER TABLE t ENABLE ROW LEVEL SECURITY'],
    ];
  },
  default(context) {
    const { parts, call } = computed(context, '5');
    return [...parts, ['table', `ALTER TABLE t ALTER c SET DEFAULT ${call}`]];
  },
  'internal function'({ at, random }) {
    const language = random.pick(['internal', 'internal', 'sql']);
    const body = language === 'sql' ? 'SELECT abs($1)' : 'int4abs';
    return [
      ['before', `CREATE FUNCTION a${at}(int) RETURNS int IMMUTABLE STRICT LANGUAGE ${language} AS '${body}'`],
      ['table', `CREATE INDEX a${at} ON t (a${at}(n))`],
    ];
  },
  trigger(context) {
    const { parts, call } = computed(context, 'NEW.n');
    const { at, random } = context;
    const when = random.oneIn(3) ? `WHEN (${condition(context, call, undefined)}) ` : '';
    const body = random.pick([
      `NEW.c := ${call}; RETURN NEW;`,
      "INSERT INTO kinds VALUES (NEW.n + 100, 'made') ON CONFLICT DO NOTHING; RETURN NEW;",
      'RETURN NEW;',
    ]);
    const state = random.pick(['ENABLE', 'ENABLE', 'DISABLE', 'ENABLE REPLICA', 'ENABLE ALWAYS']);
    const time = random.pick(['BEFORE', 'AFTER']);
    return [
      ...parts,
      ['before', `CREATE FUNCTION fire${at}() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN ${body} END$f$`],
      ['table', `CREATE TRIGGER g${at} ${time} INSERT OR UPDATE ON t FOR EACH ROW ${when}EXECUTE FUNCTION fire${at}()`],
      ['table', `ALTER TABLE t ${state} TRIGGER g${at}`],
    ];
  },
};

const mutationKinds = Object.keys(mutations) as readonly MutationKind[];
