/**
 * Bodies of LANGUAGE sql functions with constructs that are hard for a search which knows only tokens. Initial values of
 * variables are left out of the PL/pgSQL bodies below: libpg-query does not return them.
 */
export const sqlBodies: readonly string[] = [
  'SELECT count(*) FROM orders',
  'SELECT o.id FROM sales.orders o, customers AS c WHERE c.id = o.customer',
  'SELECT * FROM ONLY orders NATURAL JOIN "Order Lines" l LEFT JOIN sales.refunds r USING (id) ORDER BY lower(l.note)',
  'SELECT a.id FROM (orders a CROSS JOIN sales.orders b) JOIN (SELECT id FROM customers) c ON c.id = a.id',
  'SELECT x FROM generate_series(1, 10) x, LATERAL (SELECT count(*) FROM orders WHERE id = x) y',
  'SELECT * FROM active_orders(1, plain(2)) WITH ORDINALITY AS t(id, n)',
  'SELECT * FROM ROWS FROM (active_orders(1), sales.totals(2)) AS t',
  'WITH recent AS (SELECT id FROM orders) SELECT * FROM recent JOIN customers USING (id)',
  'WITH RECURSIVE tree (id) AS (SELECT id FROM nodes UNION ALL SELECT n.id FROM tree t JOIN nodes n ON n.parent = t.id) SELECT id FROM tree',
  'WITH gone AS (DELETE FROM orders USING customers c WHERE c.id = orders.customer RETURNING orders.id) INSERT INTO archive SELECT id FROM gone',
  'WITH a AS MATERIALIZED (SELECT 1 AS n), b AS NOT MATERIALIZED (SELECT n FROM a) SELECT n FROM b, steps',
  'INSERT INTO orders (id, note) VALUES (1, plain($1)) ON CONFLICT (id) DO UPDATE SET note = excluded.note',
  'INSERT INTO sales.orders AS o SELECT * FROM staging WHERE valid(staging.id) RETURNING o.id',
  'UPDATE orders AS o SET note = c.name, total = total + 1 FROM customers c WHERE c.id = o.customer',
  'UPDATE ONLY sales.orders SET (a, b) = (SELECT x, y FROM corrections) WHERE id IN (SELECT id FROM staging)',
  'DELETE FROM orders o USING customers c, regions WHERE o.customer = c.id',
  'SELECT id FROM orders FOR UPDATE SKIP LOCKED',
  'SELECT id FROM orders UNION SELECT id FROM archive INTERSECT SELECT id FROM customers EXCEPT SELECT id FROM regions',
  'VALUES (plain(1)), (sales.total(2))',
  'SELECT CASE WHEN EXISTS (SELECT FROM orders) THEN plain($1) ELSE (SELECT max(id) FROM archive) END',
  'SELECT extract(epoch FROM now()), substring(note FROM 2 FOR 3), trim(both FROM note), position(note IN $1) FROM orders',
  'SELECT overlay($1 PLACING $2 FROM 1), coalesce(a, b), nullif(a, b), greatest(a, b), least(a, b) FROM pairs',
  'SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM plain(b) FROM pairs',
  'SELECT count(DISTINCT id) FILTER (WHERE valid(id)) OVER (PARTITION BY customer ORDER BY id) FROM orders',
  'SELECT rank() OVER w, sum(total) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders WINDOW w AS (ORDER BY id)',
  'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM orders',
  'SELECT array_agg(id ORDER BY plain(id)) FROM orders GROUP BY GROUPING SETS ((a), (b)), ROLLUP (c)',
  'SELECT ARRAY(SELECT id FROM orders), ARRAY[plain(1), 2], ROW(plain(3), 4), (SELECT note FROM archive LIMIT 1)',
  "SELECT 'good'::mood, CAST('bad' AS public.mood), $1::mood[], ('x'::text)::\"My Type\"",
  "SELECT 'orders'::regclass, nextval('order_ids'), 'mood'::regtype, pg_get_serial_sequence('sales.orders', 'id')",
  "SELECT 'FROM orders', $$ FROM archive $$, $tag$ plain(1) $tag$, E'\\'FROM regions' FROM customers",
  'SELECT id -- FROM archive\n FROM /* regions /* nested */ FROM staging */ orders',
  'SELECT a <-> b, a @> b, a || b, a #>> b, a ->> b, NOT a ~* b, a ?| b FROM pairs',
  'SELECT a <@ ANY (ARRAY[b]), a OPERATOR(public.<->) b, a % b FROM pairs',
  'SELECT json_object_agg(k, v) FROM jsonb_each($1) AS e(k, v) WHERE k LIKE plain(v) ESCAPE $2',
  'SELECT x.a FROM json_to_recordset($1) AS x(a int, b text)',
  'SELECT a AS plain, b mood FROM pairs AS orders(a, b) ORDER BY plain, orders.b',
  'SELECT t.plain, t.* FROM orders t WHERE (t.a, t.b) IN (SELECT c, d FROM pairs)',
  'SELECT $1 BETWEEN plain(1) AND plain(2), $1 SIMILAR TO pattern($2), $1 IN (plain(3), 4)',
  'SELECT 1; SELECT plain(2) FROM orders; DELETE FROM archive',
  'SELECT "Select"(1), "from"."Where"(2) FROM "Table"."Of"',
  'SELECT * FROM orders TABLESAMPLE SYSTEM (10) WHERE random() < 0.1',
  'SELECT * FROM orders o LEFT JOIN LATERAL plain(o.id) p ON true',
  'SELECT id FROM orders WHERE total > ALL (SELECT total FROM archive) AND id = SOME (SELECT id FROM regions)',
  "SELECT interval '1 day' + date '2020-01-01', timestamp with time zone '2020-01-01' AT TIME ZONE $1",
  'SELECT id FROM orders OFFSET plain(1) FETCH FIRST 2 ROWS ONLY',
  'MERGE INTO orders o USING staging s ON o.id = s.id WHEN MATCHED THEN UPDATE SET note = plain(s.note)',
  'MERGE INTO sales.orders USING (SELECT id FROM staging) s ON orders.id = s.id AND valid(s.id, 2) WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, note) VALUES (s.id, plain(1))',
  'MERGE INTO orders o USING staging s JOIN customers c USING (id) ON o.id = s.id WHEN MATCHED THEN DO NOTHING; SELECT a FROM archive JOIN regions USING (id)',
  'MERGE INTO orders o USING active_orders(1) s(id, n) ON o.id = s.id WHEN MATCHED THEN DELETE',
  'TABLE orders',
  'TABLE ONLY sales.orders ORDER BY plain(1)',
  'SELECT id FROM (TABLE orders) o UNION ALL TABLE archive',
  'WITH recent AS (TABLE orders) TABLE recent',
  'INSERT INTO archive TABLE orders',
  'SELECT overlay($1 PLACING plain($2) FROM 1)',
  'SELECT now() AT TIME ZONE zone_of($1), zone(2) FROM zone z(a, b)',
];

/** Bodies of LANGUAGE plpgsql functions. */
export const plpgsqlBodies: readonly string[] = [
  'BEGIN RETURN count(*) FROM orders; END',
  'DECLARE m mood; n public.mood; r orders%ROWTYPE; c sales.orders.id%TYPE; BEGIN RETURN 1; END',
  'DECLARE o CONSTANT mood := NULL; BEGIN RETURN 1; END',
  'BEGIN IF EXISTS (SELECT FROM orders) THEN PERFORM plain(1); ELSIF valid(2) THEN RETURN 2; ELSE RETURN total(3); END IF; RETURN 4; END',
  'BEGIN CASE plain(1) WHEN 1, 2 THEN RETURN valid(3); ELSE RETURN (SELECT max(id) FROM orders); END CASE; END',
  'DECLARE r record; BEGIN FOR r IN SELECT * FROM orders JOIN customers USING (id) LOOP INSERT INTO archive VALUES (r.id); END LOOP; RETURN 1; END',
  'BEGIN FOR i IN plain(1) .. total(2) BY 3 LOOP UPDATE orders SET total = i; END LOOP; RETURN 1; END',
  'BEGIN WHILE valid(1) LOOP EXIT WHEN plain(2) > 3; CONTINUE WHEN total(4) > 5; END LOOP; RETURN 1; END',
  'DECLARE c CURSOR FOR SELECT * FROM orders; r record; BEGIN OPEN c; FETCH NEXT FROM c INTO r; MOVE FORWARD FROM c; CLOSE c; RETURN 1; END',
  'DECLARE c CURSOR (n int) FOR SELECT * FROM orders WHERE id = n; BEGIN OPEN c(plain(1)); RETURN 1; END',
  'DECLARE n int; BEGIN SELECT count(*) INTO STRICT n FROM orders WHERE valid(id); RETURN n; END',
  'DECLARE n int; m int; BEGIN INSERT INTO orders VALUES (1) RETURNING id, total INTO n, m; RETURN n; END',
  'DECLARE n int; BEGIN n := plain(1) + (SELECT max(id) FROM orders); n = total(2); RETURN n; END',
  "BEGIN EXECUTE 'SELECT plain(1) FROM orders'; RETURN 1; END",
  "BEGIN EXECUTE 'DELETE FROM orders WHERE id = $1' USING plain(1); RETURN 1; END",
  "BEGIN RAISE NOTICE 'FROM archive %', plain(1); RAISE EXCEPTION 'plain(%)', 2 USING hint = total(3); END",
  "BEGIN ASSERT valid(1), 'FROM archive'; PERFORM plain(2) FROM orders; RETURN 1; END",
  'BEGIN RETURN QUERY SELECT id FROM orders WHERE valid(id); RETURN NEXT plain(1); RETURN; END',
  'BEGIN BEGIN PERFORM plain(1); EXCEPTION WHEN unique_violation OR others THEN INSERT INTO failures VALUES (sqlerrm); END; RETURN 1; END',
  '<<outer>> DECLARE n int := 1; BEGIN <<inner>> LOOP n := n + plain(n); EXIT "outer" WHEN n > 9; END LOOP; RETURN n; END "outer"',
  'BEGIN IF (SELECT count(*) FROM orders) > 1 THEN RETURN CASE WHEN valid(1) THEN plain(2) ELSE total(3) END; END IF; RETURN 4; END',
  "DECLARE k text := 'FROM archive'; -- FROM regions\n BEGIN /* plain(1) */ RETURN lower(k) || upper('plain(2)'); END",
  'BEGIN WITH old AS (DELETE FROM orders RETURNING *) INSERT INTO archive SELECT * FROM old; RETURN 1; END',
  'DECLARE x int; BEGIN FOREACH x IN ARRAY ids(1) LOOP DELETE FROM orders WHERE id = x; END LOOP; RETURN 1; END',
  'DECLARE x int; BEGIN FOREACH x IN ARRAY ARRAY[plain(1), total(2)] LOOP RETURN x; END LOOP; RETURN 1; END',
  'BEGIN MERGE INTO orders USING staging ON orders.id = staging.id WHEN MATCHED THEN DELETE; RETURN QUERY TABLE archive; END',
  "BEGIN CALL sales.refresh(plain(1)); RETURN 'good'::mood; END",
];

export interface KnownDifference {
  readonly language: 'sql' | 'plpgsql';
  readonly body: string;
  /** What the parse tree has and the search does not find. */
  readonly missing: string;
}

/** The search misses these references. A line goes when the search finds what it misses. */
export const knownDifferences: readonly KnownDifference[] = [
  { language: 'sql', body: "SELECT mood 'good'", missing: 'types mood' },
];
