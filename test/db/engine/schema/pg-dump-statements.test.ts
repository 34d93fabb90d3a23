import { expect, test } from 'vitest';
import { removeStatements } from '../../../../src/db/engine/schema/pg-dump.ts';

const isExtension = (statement: string) => statement.startsWith('CREATE EXTENSION');

test('a statement is left out with the comments before it', () => {
  const script = `SET a = 1;\n\n--\n-- Name: x; Type: EXTENSION\n--\n\nCREATE EXTENSION "a;b'c" WITH SCHEMA "s";\n\nSELECT 1;\n`;
  expect(removeStatements(script, isExtension)).toBe('SET a = 1;\n\nSELECT 1;\n');
});

test.each([
  `SELECT 'x;\nCREATE EXTENSION y;\n';`,
  `SELECT 'it''s;\nCREATE EXTENSION y;\n';`,
  `COMMENT ON TABLE "t;\nCREATE EXTENSION y;" IS 'a';`,
  `CREATE FUNCTION f() AS $_$;\nCREATE EXTENSION y;\n$$;\n$_$;`,
  `CREATE FUNCTION f() AS $$ $1;\nCREATE EXTENSION y;$$ LANGUAGE sql;`,
  `-- it's; \n--\nSELECT 1;`,
  `SELECT 'open;\nCREATE EXTENSION y;`,
  `CREATE FUNCTION f() AS $open$;\nCREATE EXTENSION y;`,
])('what is quoted is no statement: %j', (script) => {
  expect(removeStatements(script, isExtension)).toBe(script);
});

test('a long constant is no problem', () => {
  const script = `SELECT '${"x''".repeat(1_000_000)}'; SELECT $$${';'.repeat(1_000_000)}$$;`;
  expect(removeStatements(script, isExtension)).toBe(script);
});
