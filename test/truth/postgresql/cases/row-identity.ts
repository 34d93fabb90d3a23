import type { PostgresCase } from '../case.ts';

/** The application changes a row that the statistics of the table without a key do not show. */
const changesLater = {
  truth: 'dump',
  why: 'the statistics count changed rows, and the statement of the application has changed none of this table so far; the report says that no statement may, with the statement that gives the table a replica identity',
} as const;

/** The application uses a statement that nothing excludes. */
const truncatesLater = {
  truth: 'dump',
  why: 'whether the application uses TRUNCATE during the migration is not known; the report says that it may not',
} as const;

/** The application runs a function that nothing excludes. */
const altersLater = {
  truth: 'dump',
  why: 'whether a function that creates or changes tables runs during the migration is not known; the report names it',
} as const;

/** 120,000 rows, of which each was changed six times. */
const oftenChanged = [
  'CREATE TABLE t (id int, v int)',
  'ALTER TABLE t REPLICA IDENTITY FULL',
  'INSERT INTO t SELECT i, 0 FROM generate_series(1, 120000) i',
  ...Array.from({ length: 6 }, () => 'UPDATE t SET v = v + 1'),
];

const partitionedChild = [
  'CREATE TABLE ref (id int PRIMARY KEY)',
  'CREATE TABLE child (id int PRIMARY KEY, r int REFERENCES ref) PARTITION BY RANGE (id)',
  'CREATE TABLE child1 PARTITION OF child FOR VALUES FROM (0) TO (1000)',
  'INSERT INTO ref VALUES (1), (2)',
  'INSERT INTO child VALUES (1, 1), (2, 2)',
];

/** Which statements need the replica identity of a table, and how the target finds the changed row. */
export const rowIdentityCases: readonly PostgresCase[] = [
  {
    name: 'without a key: a child by inheritance whose parent is updated',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: changesLater,
    setup: [
      'CREATE TABLE acc (id int PRIMARY KEY, bal int)',
      'CREATE TABLE vip () INHERITS (acc)',
      'INSERT INTO acc SELECT n, 5 FROM generate_series(1, 5) n',
      'INSERT INTO vip VALUES (9, 9)',
      'UPDATE acc SET bal = 6 WHERE id = 1',
    ],
    quiet: ['vip'],
    app: ['UPDATE acc SET bal = bal + 1 WHERE id = 2'],
  },
  {
    name: 'without a key: a partition beside one with a key, which is updated',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: changesLater,
    setup: [
      'CREATE TABLE p (id int, t text) PARTITION BY RANGE (id)',
      'CREATE TABLE p1 PARTITION OF p (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (1000)',
      'CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (2000)',
      "INSERT INTO p VALUES (1, 'a'), (2, 'b'), (1001, 'e')",
      "UPDATE p SET t = 'z' WHERE id = 1",
    ],
    quiet: ['p2'],
    app: ["UPDATE p SET t = 'y' WHERE t = 'b'"],
  },
  {
    name: 'without a key: a table of rows that are only added, beside children with keys that are updated',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE log (at timestamptz DEFAULT now(), t text)',
      'CREATE TABLE acc (id int PRIMARY KEY, bal int)',
      'CREATE TABLE vip (PRIMARY KEY (id)) INHERITS (acc)',
      "INSERT INTO log (t) VALUES ('a'), ('b')",
      'INSERT INTO acc VALUES (1, 1), (2, 2)',
      'INSERT INTO vip VALUES (9, 9)',
      'UPDATE acc SET bal = bal + 1',
    ],
    quiet: ['log'],
    app: ['UPDATE acc SET bal = bal + 1', "INSERT INTO log (t) VALUES ('c')"],
  },
  {
    name: 'without a key: it follows deleted rows through another table',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: changesLater,
    setup: [
      'CREATE TABLE a (id int PRIMARY KEY)',
      'CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a ON DELETE CASCADE)',
      'CREATE TABLE c (id int PRIMARY KEY, b int REFERENCES b ON DELETE CASCADE)',
      'CREATE TABLE d (x int, c int REFERENCES c ON DELETE SET NULL)',
      'INSERT INTO a VALUES (1), (2), (3)',
      'INSERT INTO b VALUES (1, 1)',
      'INSERT INTO c VALUES (1, 1)',
      'INSERT INTO d VALUES (5, NULL)',
      'DELETE FROM a WHERE id = 3',
    ],
    quiet: ['b', 'c', 'd'],
    app: ['DELETE FROM a WHERE id = 1'],
  },
  {
    name: 'without a key: deleted rows whose followers lose a column, not the row',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE a (id int PRIMARY KEY)',
      'CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a ON DELETE SET NULL)',
      'CREATE TABLE c (x int, b int REFERENCES b ON DELETE CASCADE)',
      'INSERT INTO a VALUES (1), (2), (3)',
      'INSERT INTO b VALUES (1, 1)',
      'INSERT INTO c VALUES (5, 1)',
      'DELETE FROM a WHERE id = 3',
    ],
    quiet: ['b', 'c'],
    app: ['DELETE FROM a WHERE id = 1'],
  },
  {
    name: 'without a key: a rule deletes rows',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: changesLater,
    setup: [
      'CREATE TABLE a (id int PRIMARY KEY)',
      'CREATE TABLE log (a int, t text)',
      'CREATE RULE forget AS ON DELETE TO a DO ALSO DELETE FROM log WHERE log.a = OLD.id',
      'INSERT INTO a VALUES (1), (2), (3)',
      "INSERT INTO log VALUES (7, 'x')",
      'DELETE FROM a WHERE id = 3',
    ],
    quiet: ['log'],
    app: ['DELETE FROM a WHERE id = 1'],
  },
  {
    name: 'without a key: a rule adds rows',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE a (id int PRIMARY KEY)',
      'CREATE TABLE log (a int, t text)',
      "CREATE RULE note AS ON DELETE TO a DO ALSO INSERT INTO log VALUES (OLD.id, 'gone')",
      'INSERT INTO a VALUES (1), (2), (3)',
      'DELETE FROM a WHERE id = 3',
    ],
    quiet: ['log'],
    app: ['DELETE FROM a WHERE id = 1'],
  },
  {
    name: 'FULL, and an index with a generated column behind another',
    verdict: 'dump',
    reasons: ['full-without-eq'],
    setup: [
      'CREATE TABLE f (a int, g int GENERATED ALWAYS AS (a * 2) STORED, b text)',
      'CREATE INDEX f_ag ON f (a, g)',
      'ALTER TABLE f REPLICA IDENTITY FULL',
      "INSERT INTO f (a, b) SELECT n, 'b' FROM generate_series(1, 20) n",
    ],
    quiet: ['f'],
    app: ["UPDATE f SET b = 'z' WHERE a = 2", 'DELETE FROM f WHERE a = 3'],
  },
  {
    name: 'FULL, and an index with a generated column, on a target that does not use it',
    verdict: 'continuous',
    from: 14,
    to: 15,
    setup: [
      'CREATE TABLE f (a int, g int GENERATED ALWAYS AS (a * 2) STORED, b text)',
      'CREATE INDEX f_ag ON f (a, g)',
      'ALTER TABLE f REPLICA IDENTITY FULL',
      "INSERT INTO f (a, b) SELECT n, 'b' FROM generate_series(1, 20) n",
    ],
    quiet: ['f'],
    app: ["UPDATE f SET b = 'z' WHERE a = 2", 'DELETE FROM f WHERE a = 3'],
  },
  {
    name: 'FULL, and indexes that find rows: of other columns, by a generated column alone, partial, behind a usable one',
    verdict: 'continuous',
    setup: [
      ...['f1', 'f2', 'f3', 'f4'].flatMap((table) => [
        `CREATE TABLE ${table} (a int, g int GENERATED ALWAYS AS (a * 2) STORED, b text)`,
        `ALTER TABLE ${table} REPLICA IDENTITY FULL`,
        `INSERT INTO ${table} (a, b) SELECT n, 'b' FROM generate_series(1, 20) n`,
      ]),
      'CREATE INDEX f1_a ON f1 (a) INCLUDE (g)',
      'CREATE INDEX f2_g ON f2 (g, a)',
      'CREATE INDEX f3_a ON f3 (a, g) WHERE a > 0',
      'CREATE INDEX f4_b ON f4 (b)',
      'CREATE INDEX f4_z ON f4 (a, g)',
    ],
    quiet: ['f1', 'f2', 'f3', 'f4'],
    app: ['f1', 'f2', 'f3', 'f4'].flatMap((table) => [
      `UPDATE ${table} SET b = 'z' WHERE a = 2`,
      `DELETE FROM ${table} WHERE a = 3`,
    ]),
  },
  {
    name: 'without a key: a function merges rows into a table that has only got new ones so far',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: changesLater,
    setup: [
      'CREATE TABLE log (k int, t text)',
      `CREATE FUNCTION note(int, text) RETURNS void LANGUAGE plpgsql AS $$BEGIN
        MERGE INTO public.log USING (VALUES ($1, $2)) v (k, t) ON log.k = v.k
        WHEN MATCHED THEN UPDATE SET t = v.t WHEN NOT MATCHED THEN INSERT VALUES (v.k, v.t);
      END$$`,
      "SELECT note(1, 'a'), note(2, 'b')",
    ],
    quiet: ['log'],
    app: ["SELECT note(3, 'c')"],
  },
  {
    name: 'without a key: functions that add rows, lock rows of it, and change another table',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE log (k int, t text)',
      'CREATE TABLE other (k int PRIMARY KEY, t text)',
      `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        -- Not UPDATE log, nor DELETE FROM log
        PERFORM FROM public.log WHERE k = NEW.k FOR UPDATE;
        INSERT INTO public.log VALUES (NEW.k, NEW.t);
        UPDATE public.other SET t = 'log' WHERE k = NEW.k - 1;
        RETURN NEW;
      END$$`,
      'CREATE TRIGGER noting AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION note()',
      "INSERT INTO other VALUES (1, 'a'), (2, 'b')",
    ],
    quiet: ['log'],
    app: ["INSERT INTO other VALUES (3, 'c')"],
  },
  {
    name: 'without a key: a function deletes rows of the table that it is told',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: changesLater,
    setup: [
      'CREATE TABLE log (k int, t text)',
      "INSERT INTO log VALUES (1, 'a'), (2, 'b')",
      `CREATE FUNCTION purge(tab regclass, n int) RETURNS void LANGUAGE plpgsql AS $$BEGIN
        EXECUTE format('DELETE FROM %s WHERE k = $1', tab) USING n;
      END$$`,
    ],
    quiet: ['log'],
    app: ["SELECT purge('log', 1)"],
  },
  {
    name: 'without a key: a trigger of refint deletes rows',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: changesLater,
    setup: [
      'CREATE EXTENSION refint',
      'CREATE TABLE a (id int PRIMARY KEY)',
      'CREATE TABLE b (a int, t text)',
      "CREATE TRIGGER cf BEFORE DELETE OR UPDATE ON a FOR EACH ROW EXECUTE FUNCTION check_foreign_key(1, 'cascade', 'id', 'b', 'a')",
      'INSERT INTO a VALUES (1), (2), (3)',
      "INSERT INTO b VALUES (7, 'x')",
    ],
    quiet: ['a', 'b'],
    app: ['DELETE FROM a WHERE id = 1'],
  },
  {
    name: 'without a key: a trigger of refint that refuses to delete rows',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION refint',
      'CREATE TABLE a (id int PRIMARY KEY)',
      'CREATE TABLE b (a int, t text)',
      "CREATE TRIGGER cf BEFORE DELETE OR UPDATE ON a FOR EACH ROW EXECUTE FUNCTION check_foreign_key(1, 'restrict', 'id', 'b', 'a')",
      'INSERT INTO a VALUES (1), (2), (3)',
      "INSERT INTO b VALUES (7, 'x')",
    ],
    quiet: ['a', 'b'],
    app: ['DELETE FROM a WHERE id = 1'],
  },
  {
    name: 'without a key: a function upserts rows of an empty table that has a unique index',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: changesLater,
    setup: [
      'CREATE TABLE log (k int UNIQUE, t text)',
      `CREATE FUNCTION note(int, text) RETURNS void LANGUAGE sql AS $$
        INSERT INTO public.log VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET t = $2
      $$`,
    ],
    empty: true,
    quiet: ['log'],
    app: ["SELECT note(1, 'a')"],
  },
  {
    name: 'without a key: functions that compose statements for other tables, or that add rows',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE log (k int, t text)',
      'CREATE TABLE other_1 (k int PRIMARY KEY, t text)',
      "INSERT INTO other_1 VALUES (1, 'a'), (2, 'b'), (3, 'c')",
      `CREATE FUNCTION change(n int) RETURNS void LANGUAGE plpgsql AS $$BEGIN
        EXECUTE 'UPDATE other_' || n || $q$ SET t = 'z' WHERE k = 1$q$;
        EXECUTE format('DELETE FROM %I WHERE t <> %L AND k = 3', 'other_1', 'log');
        EXECUTE format('INSERT INTO %I VALUES (3, NULL)', 'log');
        RAISE NOTICE 'DELETE FROM % done', 'log';
      END$$`,
    ],
    quiet: ['log'],
    app: ['SELECT change(1)'],
  },
  {
    name: 'a TRUNCATE by a function, of a table that it is told and a partitioned table refers to',
    verdict: 'continuous',
    unproven: ['partitions'],
    differs: truncatesLater,
    setup: [
      ...partitionedChild,
      "CREATE FUNCTION empty(tab regclass) RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'TRUNCATE ' || tab || ' CASCADE'; END$$",
    ],
    app: ["SELECT empty('ref')", 'INSERT INTO ref VALUES (7)'],
  },
  {
    name: 'a TRUNCATE by a function of what a partitioned table refers to',
    verdict: 'continuous',
    unproven: ['partitions'],
    differs: truncatesLater,
    setup: [
      ...partitionedChild,
      "CREATE FUNCTION empty() RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'TRUNCATE TABLE public.ref, public.child'; END$$",
    ],
    app: ['SELECT empty()', 'INSERT INTO ref VALUES (7)'],
  },
  {
    name: 'a TRUNCATE by a function of what an unlogged table refers to',
    verdict: 'continuous',
    unproven: ['unlogged'],
    differs: truncatesLater,
    setup: [
      'CREATE TABLE jobs (id int PRIMARY KEY)',
      'CREATE UNLOGGED TABLE locks (id int PRIMARY KEY, job int REFERENCES jobs ON DELETE CASCADE)',
      'INSERT INTO jobs VALUES (1), (2)',
      "CREATE FUNCTION reset() RETURNS void LANGUAGE sql AS 'TRUNCATE jobs CASCADE'",
    ],
    quiet: ['jobs', 'locks'],
    app: ['SELECT reset()'],
  },
  {
    name: 'an earlier TRUNCATE of what a partitioned table refers to',
    verdict: 'continuous',
    unproven: ['partitions'],
    differs: truncatesLater,
    from: 16,
    to: 18,
    setup: [...partitionedChild, 'TRUNCATE ref CASCADE', 'INSERT INTO ref VALUES (1)'],
    app: ['TRUNCATE ref CASCADE', 'INSERT INTO ref VALUES (7)'],
  },
  {
    name: 'a partitioned table refers to a table that is not truncated, and to one that was loaded once',
    verdict: 'continuous',
    setup: [
      ...partitionedChild,
      'CREATE TABLE loaded (id int PRIMARY KEY)',
      'CREATE TABLE other (id int PRIMARY KEY, r int REFERENCES loaded) PARTITION BY HASH (id)',
      'CREATE TABLE other1 PARTITION OF other FOR VALUES WITH (MODULUS 1, REMAINDER 0)',
      'INSERT INTO loaded SELECT generate_series(1, 100)',
      'VACUUM FULL loaded',
      'CREATE FUNCTION empty() RETURNS void LANGUAGE plpgsql AS $$BEGIN TRUNCATE public.child; END$$',
    ],
    app: ['SELECT empty()', 'INSERT INTO child VALUES (5, 1)'],
  },
  {
    name: 'DDL in a procedure: a report table is dropped and created again',
    verdict: 'continuous',
    unproven: ['ddl-activity'],
    differs: altersLater,
    setup: [
      'CREATE TABLE sales (id int PRIMARY KEY, amount int)',
      'INSERT INTO sales VALUES (1, 1), (2, 2)',
      `CREATE PROCEDURE rebuild() LANGUAGE plpgsql AS $$BEGIN
        DROP TABLE IF EXISTS public.report;
        CREATE TABLE public.report AS SELECT sum(amount) AS total FROM public.sales;
      END$$`,
      'CALL rebuild()',
    ],
    quiet: ['report'],
    app: ['CALL rebuild()'],
  },
  {
    name: 'DDL in a function: a staging table that it fills and drops',
    verdict: 'continuous',
    unproven: ['ddl-activity'],
    differs: altersLater,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, n int)',
      'INSERT INTO t SELECT n, n FROM generate_series(1, 20) n',
      `CREATE FUNCTION nightly() RETURNS void LANGUAGE plpgsql AS $$BEGIN
        CREATE TABLE stage (id int, n int);
        INSERT INTO stage SELECT * FROM t;
        UPDATE stage SET n = n + 1;
        UPDATE t SET n = stage.n FROM stage WHERE stage.id = t.id;
        DROP TABLE stage;
      END$$`,
    ],
    app: ['SELECT nightly()'],
  },
  {
    name: 'DDL in a trigger: an INSERT creates the child table of its month',
    verdict: 'continuous',
    unproven: ['ddl-activity'],
    differs: altersLater,
    quick: true,
    setup: [
      'CREATE TABLE m (id bigserial PRIMARY KEY, at date NOT NULL, v int)',
      `CREATE FUNCTION m_ins() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE t text := 'm_' || to_char(NEW.at, 'YYYYMM');
        BEGIN
          IF to_regclass('public.' || t) IS NULL THEN
            EXECUTE 'CREATE TABLE ' || t || ' (PRIMARY KEY (id)) INHERITS (m)';
          END IF;
          EXECUTE format('INSERT INTO %I SELECT ($1).*', t) USING NEW;
          RETURN NULL;
        END$$`,
      'CREATE TRIGGER ins BEFORE INSERT ON m FOR EACH ROW EXECUTE FUNCTION m_ins()',
      "INSERT INTO m (at, v) VALUES ('2026-01-01', 1), ('2026-02-01', 2)",
      'CREATE SEQUENCE months',
      `CREATE FUNCTION next_month() RETURNS date LANGUAGE sql
        AS $$SELECT (date '2026-03-01' + nextval('months') * interval '1 month')::date$$`,
    ],
    app: ['INSERT INTO m (at, v) VALUES (next_month(), 3)'],
  },
  {
    name: 'DDL in a function: SELECT INTO in SQL',
    verdict: 'continuous',
    unproven: ['ddl-activity'],
    differs: altersLater,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, n int)',
      'INSERT INTO t SELECT n, n FROM generate_series(1, 20) n',
      'CREATE FUNCTION keep() RETURNS void LANGUAGE sql AS $$SELECT * INTO kept FROM t; SELECT NULL$$',
    ],
    app: ['SELECT keep()'],
  },
  {
    name: 'DDL in a function: SELECT INTO of temporary tables and of variables',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, n int)',
      'INSERT INTO t SELECT n, n FROM generate_series(1, 20) n',
      'CREATE FUNCTION keep() RETURNS void LANGUAGE sql AS $$SELECT * INTO TEMP kept FROM t; SELECT NULL$$',
      `CREATE FUNCTION total() RETURNS int LANGUAGE plpgsql AS $$DECLARE v int; BEGIN
        SELECT sum(n) INTO v FROM t;
        EXECUTE 'SELECT count(*) FROM t' INTO v;
        RETURN v;
      END$$`,
    ],
    app: ['SELECT keep(), total()'],
  },
  {
    name: 'DDL in a function: the schema of a new tenant',
    verdict: 'continuous',
    unproven: ['ddl-activity'],
    differs: altersLater,
    setup: [
      `CREATE FUNCTION new_tenant(n text) RETURNS void LANGUAGE plpgsql AS $$BEGIN
        EXECUTE format('CREATE SCHEMA %I', n);
        EXECUTE format('CREATE TABLE %I.users (id serial PRIMARY KEY, mail text)', n);
        EXECUTE format('INSERT INTO %I.users (mail) VALUES (1)', n);
      END$$`,
      "SELECT new_tenant('t1')",
      'CREATE SEQUENCE s',
    ],
    app: ["SELECT new_tenant('x' || nextval('s'))"],
  },
  {
    name: 'DDL in a function: a bulk load into a table that is UNLOGGED meanwhile',
    verdict: 'continuous',
    unproven: ['ddl-activity'],
    differs: altersLater,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, v text)',
      "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
      'CREATE SEQUENCE s',
      `CREATE FUNCTION load() RETURNS void LANGUAGE plpgsql AS $$BEGIN
        ALTER TABLE t SET UNLOGGED;
        INSERT INTO t SELECT 100 * nextval('s') + n, n FROM generate_series(1, 50) n;
        ALTER TABLE t SET LOGGED;
      END$$`,
    ],
    app: ['SELECT load()'],
  },
  {
    name: 'DDL in a function: the partition of the next month',
    verdict: 'continuous',
    unproven: ['ddl-activity'],
    differs: altersLater,
    setup: [
      'CREATE TABLE ev (id bigint, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at)',
      "CREATE TABLE ev_1 PARTITION OF ev FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')",
      "INSERT INTO ev SELECT n, '2026-01-05' FROM generate_series(1, 5) n",
      'CREATE SEQUENCE mo START 2',
      `CREATE FUNCTION next_partition() RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
          m bigint := nextval('mo');
          d date := (date '2026-01-01' + (m - 1) * interval '1 month')::date;
        BEGIN
          EXECUTE format('CREATE TABLE ev_%s PARTITION OF ev FOR VALUES FROM (%L) TO (%L)', m, d, d + interval '1 month');
          INSERT INTO ev VALUES (100 + m, d);
        END$$`,
    ],
    app: ['SELECT next_partition()'],
  },
  {
    name: 'functions with tables that are temporary or unlogged, with indexes, and with the words of DDL alone',
    verdict: 'continuous',
    quick: true,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, n int)',
      'INSERT INTO t SELECT n, n FROM generate_series(1, 20) n',
      'CREATE MATERIALIZED VIEW mv AS SELECT count(*) FROM t',
      'CREATE SEQUENCE s',
      `CREATE FUNCTION nightly() RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
          tmp text := 'stage3';
        BEGIN
          -- CREATE TABLE stage (id int)
          RAISE NOTICE 'create table first';
          CREATE UNLOGGED TABLE stage (id int, n int);
          DROP TABLE IF EXISTS stage2;
          CREATE TEMP TABLE stage2 ON COMMIT DROP AS SELECT * FROM t;
          EXECUTE format('CREATE TEMP TABLE %I (id int)', tmp);
          EXECUTE 'ALTER TABLE ' || tmp || ' ADD n int';
          EXECUTE format('DROP TABLE %I', tmp);
          ALTER TABLE stage2 ADD more int;
          UPDATE stage2 SET n = n + 1;
          INSERT INTO stage SELECT id, n FROM stage2;
          UPDATE stage SET n = n + 1;
          ALTER TABLE t DISABLE TRIGGER USER;
          UPDATE t SET n = stage.n FROM stage WHERE stage.id = t.id;
          ALTER TABLE t ENABLE TRIGGER USER;
          DROP TABLE stage;
          DROP INDEX IF EXISTS t_n;
          CREATE INDEX t_n ON t (n);
          REFRESH MATERIALIZED VIEW mv;
          ALTER SEQUENCE s RESTART WITH 7;
        END$$`,
    ],
    app: ['SELECT nightly()'],
  },
  {
    name: 'FULL: a table of many rows and changes, without an index',
    verdict: 'continuous',
    unproven: ['full-without-eq'],
    setup: oftenChanged,
    app: ['UPDATE t SET v = v + 1'],
    differs: {
      truth: 'dump',
      why: 'how fast the target searches is not known, nor whether changes come at the same time; the report names the table, with the time that a fast target needs',
    },
  },
  {
    name: 'FULL: a table of many rows and changes, with an index',
    verdict: 'continuous',
    setup: [...oftenChanged, 'CREATE INDEX ON t (id)'],
    app: ['UPDATE t SET v = v + 1 WHERE id <= 20000'],
  },
];
