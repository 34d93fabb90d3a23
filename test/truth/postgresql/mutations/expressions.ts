import type { RandomSource } from './random-source.ts';

/** An int computed from the int `argument`; names of helpers are qualified or not, by chance. */
export function expressionOf(random: RandomSource, schema: string, argument: string): string {
  const group = random.pick(Object.values(expressions));
  return random
    .pick(group)
    .replaceAll('@', argument)
    .replaceAll('own.', random.oneIn(2) ? `${schema}.` : '')
    .replaceAll('schema.', `${schema}.`);
}

/** `@` is the argument, `own.` the schema or nothing, `schema.` the schema. */
const expressions = {
  pure: ['@ + 1', 'abs(@)', 'length(@::text)', '@ % 7', 'greatest(@, 3)'],
  names: ['own.helper(@)', 'own.add(@, 1)', '@ #+# 1', '@ OPERATOR(schema.#+#) 1', 'pg_catalog.int4pl(@, 1)'],
  reading: [
    '(SELECT count(*)::int FROM own.kinds)',
    '(SELECT max(id) FROM own.kinds)',
    '(SELECT k.id FROM own.kinds k WHERE k.id = @)',
    'coalesce((SELECT length(name) FROM own.kinds WHERE id = @), 0)',
    "(SELECT count(*)::int FROM pg_class WHERE relname = 'kinds')",
  ],
  settings: [
    'extract(hour FROM to_timestamp(@))::int',
    'length(to_timestamp(@)::text)',
    "length(current_setting('work_mem'))",
    "length(current_setting('search_path'))",
    "coalesce(length(current_setting('app.name', true)), 0)",
    "(current_setting('session_replication_role') = 'origin')::int",
    "extract(doy FROM ('2020-02-01'::text)::date)::int",
    "length((DATE '2020-02-01' + @)::text)",
    "length(to_char(@, 'L9D99'))",
  ],
  volatile: [
    '(random() * 10)::int',
    "nextval('own.numbers')::int",
    'extract(epoch FROM now())::int / 1000',
    'extract(year FROM clock_timestamp())::int',
    '(@ < extract(epoch FROM now()))::int',
    "extract(year FROM 'today'::date)::int",
  ],
  types: [
    "(CASE WHEN 'sad'::own.mood < 'ok'::own.mood THEN 1 ELSE 0 END)",
    'array_length(enum_range(NULL::own.mood), 1)',
    "('{1,2}'::int[])[1] + @",
    "('1' || @)::int",
    'length(@::text::varchar(2))',
    "length(ROW(@, 'sad'::own.mood)::text)",
  ],
  regclass: [
    "('own.kinds'::regclass IS NOT NULL)::int",
    "(to_regclass('kinds') IS NULL)::int",
    "length('own.kinds'::regclass::text)",
    "('own.kinds'::regclass::oid::bigint % 1000)::int",
    "length('own.helper(int)'::regprocedure::text)",
    "length('own.mood'::regtype::text)",
  ],
  server: [
    "current_setting('server_version_num')::int",
    'length(version())',
    'length(current_user)',
    "(session_user = 'postgres')::int",
    'length(current_database())',
    'coalesce(length(current_schema()), 0)',
    "(pg_relation_size('own.kinds') / 8192)::int",
    'pg_is_in_recovery()::int',
    'inet_server_port()',
  ],
  rendered: [
    'length((1 / 3::float8)::text)',
    "length(INTERVAL '26 hours'::text)",
    "length('\\x00ff'::bytea::text)",
    "length('pg_class'::regclass::text)",
    "length(to_tsvector('the runners')::text)",
    '(NULL = NULL)::int',
    "array_length('{a,NULL}'::text[], 1) + ('{a,NULL}'::text[])[2]::int",
    "extract(hour FROM ('2020-02-01 00:00 EST'::text)::timestamptz AT TIME ZONE 'UTC')::int",
  ],
  zones: [
    "extract(hour FROM to_timestamp(@) AT TIME ZONE 'US/Pacific')::int",
    "extract(hour FROM timezone('Japan', to_timestamp(@)))::int",
    "extract(hour FROM to_timestamp(@) AT TIME ZONE 'America/Mexico_City')::int",
    "extract(hour FROM to_timestamp(@) AT TIME ZONE 'Asia/Tokyo')::int",
    "(to_char(to_timestamp(@) AT TIME ZONE 'Etc/UCT', 'HH24'))::int",
    "length('PRC' || @)",
  ],
  extensions: [
    "length(public.unaccent('ÉßĲ'))",
    "(public.similarity('word', @::text || 'wor') * 10)::int",
    "length(public.hstore('a', @::text)::text)",
    "(public.hstore('a', @::text) OPERATOR(public.@>) public.hstore('a', '1'))::int",
    "(public.hstore('a', @::text) OPERATOR(public.@) public.hstore('a', '1'))::int",
    '(public.cube(@) OPERATOR(public.~) public.cube(1))::int',
    "public.nlevel('a.b.c')",
    "('A'::public.citext = 'a'::public.citext)::int",
    "public.levenshtein('abc', @::text)",
    'public.icount(ARRAY[@, 1])',
    "length(unaccent(@ || 'é'))",
  ],
  text: [
    "length(lower('É'))",
    "('a' < 'B')::int",
    "('ä' ~ '[[:alpha:]]')::int",
    "length(format('%s', @))",
    "length(concat(@, 'x'))",
    'length(md5(@::text))',
    "length(to_tsvector('a b')::text)",
    'length(upper(\'straße\' COLLATE "C"))',
  ],
} as const;
