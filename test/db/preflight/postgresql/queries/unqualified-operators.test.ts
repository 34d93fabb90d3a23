import { expect, test } from 'vitest';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { found, preflightServer } from '../preflight.ts';

const types = [
  'CREATE EXTENSION hstore',
  'CREATE EXTENSION citext',
  'CREATE TABLE t (id int PRIMARY KEY, a hstore, b citext)',
  'CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
];

test.each([14, 15, 18] as const)(
  'bare operators are found wherever they are stored (PostgreSQL %s)',
  async (version) => {
    const server = await startPostgres({ version, settings: ready });
    for (const statement of [
      ...types,
      'CREATE VIEW v_distinct AS SELECT a IS DISTINCT FROM a AS x FROM t',
      "CREATE VIEW v_null AS SELECT NULLIF(a, 'a=>1') AS x FROM t",
      "CREATE VIEW v_case AS SELECT CASE a WHEN 'a=>1' THEN 1 END AS x FROM t",
      'CREATE VIEW v_using AS SELECT a FROM t JOIN t u USING (id, a)',
      'CREATE VIEW v_natural AS SELECT a FROM t NATURAL JOIN (SELECT id, a FROM t) u',
      'CREATE VIEW v_rows AS SELECT (id, a) IN (SELECT id, a FROM t) AS x FROM t',
      'CREATE VIEW v_own AS SELECT (a, id) = (SELECT a, id FROM t LIMIT 1) AS x FROM t',
      'CREATE TRIGGER w BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.a IS DISTINCT FROM NEW.a) EXECUTE FUNCTION fire()',
      'CREATE POLICY p ON t USING (a IS DISTINCT FROM NULL::hstore)',
      'CREATE INDEX i ON t ((a IS DISTINCT FROM NULL::hstore))',
      "CREATE DOMAIN d AS hstore DEFAULT NULLIF('a=>1'::hstore, 'b=>1')",
      "CREATE FUNCTION g(h hstore DEFAULT NULLIF('a=>1'::hstore, 'b=>1')) RETURNS int LANGUAGE sql AS 'SELECT 1'",
      'CREATE FUNCTION h(x hstore, y hstore) RETURNS boolean LANGUAGE sql BEGIN ATOMIC SELECT x IS DISTINCT FROM y; END',
      'CREATE STATISTICS s ON (a IS DISTINCT FROM NULL::hstore) FROM t',
      'CREATE TABLE g1 (id int PRIMARY KEY, a hstore, y boolean GENERATED ALWAYS AS (a IS DISTINCT FROM a) STORED)',
      "CREATE TABLE c1 (id int PRIMARY KEY, a hstore CHECK (NULLIF(a, 'a=>1') IS NULL))",
      // These have a place for the schema of the operator, or need none.
      "CREATE VIEW fine AS SELECT DISTINCT a, count(*) FROM t WHERE a = 'a=>1' OR a IN (SELECT a FROM t) OR a <> ALL (ARRAY['a=>1'::hstore]) GROUP BY a UNION SELECT a, 1 FROM t",
      'CREATE VIEW fine_rows AS SELECT t IS DISTINCT FROM t AS x, ARRAY[a] IS DISTINCT FROM ARRAY[a] AS y, (a, id) IN ((a, id)) AS z FROM t',
      'CREATE VIEW fine_built_in AS SELECT id IS DISTINCT FROM 1 AS x, NULLIF(t.b::text, $$x$$) AS y, (id, t.b::text) < (1, $$x$$) AS z FROM t JOIN t u USING (id)',
    ]) {
      await server.query(statement);
    }
    const outcome = found(await preflightServer({ port: server.port }), 'search-path', 'postgres');
    expect(outcome.status).toBe('fail');
    expect(outcome.objects).toEqual([
      'constraint c1_a_check on public.c1 (public.hstore = public.hstore)',
      'default of public.d (public.hstore = public.hstore)',
      'function public.g(public.hstore) (public.hstore = public.hstore)',
      'function public.h(public.hstore,public.hstore) (public.hstore = public.hstore)',
      'generated column public.g1.y (public.hstore = public.hstore)',
      'index public.i (public.hstore = public.hstore)',
      'policy p on public.t (public.hstore = public.hstore)',
      'statistics public.s (public.hstore = public.hstore)',
      'trigger w on public.t (public.hstore = public.hstore)',
      'view public.v_case (public.hstore = public.hstore)',
      'view public.v_distinct (public.hstore = public.hstore)',
      'view public.v_natural (public.hstore = public.hstore)',
      'view public.v_null (public.hstore = public.hstore)',
      'view public.v_own (integer = integer)',
      'view public.v_rows (public.hstore = public.hstore)',
      'view public.v_using (public.hstore = public.hstore)',
    ]);
  },
);

test('the name is resolved as PostgreSQL resolves it', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    ...types,
    'CREATE VIEW v AS SELECT b IS DISTINCT FROM b AS x FROM t',
    'CREATE VIEW w AS SELECT a IS DISTINCT FROM a AS x FROM t',
    'CREATE CAST (hstore AS text) WITH INOUT AS IMPLICIT',
  ]) {
    await server.query(statement);
  }
  const outcome = async () => found(await preflightServer({ port: server.port }), 'search-path', 'postgres');
  expect(await outcome()).toMatchObject({ status: 'warn', objects: [expect.anything(), expect.anything()] });
  await server.query('CREATE TABLE u (id int PRIMARY KEY, b citext CHECK (NULLIF(b, $$x$$) IS NULL))');
  expect((await outcome()).status).toBe('unknown');
  // As of PostGIS, whose geometry becomes text and bytea: "operator is not unique".
  await server.query('CREATE CAST (hstore AS bytea) WITH INOUT AS IMPLICIT');
  expect(await outcome()).toMatchObject({
    status: 'fail',
    objects: ['view public.w (public.hstore = public.hstore)'],
  });
  const ambiguous = server.query('SET search_path = pg_catalog; SELECT a IS DISTINCT FROM a FROM public.t');
  await expect(ambiguous).rejects.toMatchObject({ code: '42725' });
});
