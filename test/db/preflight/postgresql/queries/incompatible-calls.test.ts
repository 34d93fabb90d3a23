import { expect, test } from 'vitest';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { found, preflightServer } from '../preflight.ts';

test('operators and functions that a newer release took away are found wherever they are kept', async () => {
  const server = await startPostgres({ version: 13, settings: ready });
  for (const statement of [
    'CREATE TABLE t (id int PRIMARY KEY, a bigint CHECK (a! > 0), b numeric DEFAULT !!5, c numeric GENERATED ALWAYS AS (numeric_fac(id)) STORED)',
    'CREATE INDEX "The I" ON t ((a!))',
    'CREATE POLICY p ON t USING (a! > 0)',
    "CREATE VIEW v AS SELECT box '((0,0),(1,1))' @ box '((0,0),(2,2))' AS x",
    'CREATE VIEW backup AS SELECT pg_is_in_backup() AS x',
    'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
    'CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.a! > 0) EXECUTE FUNCTION f()',
    'CREATE DOMAIN d AS numeric DEFAULT !!5',
    'CREATE FUNCTION g(n numeric DEFAULT !!5) RETURNS numeric LANGUAGE sql AS $$SELECT n$$',
    "CREATE VIEW fine AS SELECT factorial(5) AS a, box '((0,0),(1,1))' <@ box '((0,0),(2,2))' AS b",
  ]) {
    await server.query(statement);
  }
  const to = async (targetVersion: string) =>
    found(await preflightServer({ port: server.port, options: { targetVersion } }), 'removed-types', 'postgres');
  const { status, objects, fix } = await to('17');
  expect(status).toBe('fail');
  expect(objects?.map((one) => one.split(' (')[0])).toEqual([
    'constraint t_a_check on public.t',
    'default of public.d',
    'default of public.t.b',
    'function public.g(numeric)',
    'generated column public.t.c',
    'index public."The I"',
    'policy p on public.t',
    'trigger tr on public.t',
    'view public.backup',
    'view public.v',
  ]);
  expect(fix?.text).toContain('DROP FUNCTION public.g(numeric); DROP INDEX public."The I"; DROP VIEW public.backup');
  expect((await to('14')).objects).toHaveLength(9);
  expect((await to('13')).status).toBe('pass');
});
