import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import type { SchemaObjectDefinition } from './schema-object-definition.ts';
import { schemaCopyStatementTimeout } from './schema-session.ts';

export interface SchemaCopyTransactionStatements {
  readonly begin: string;
  readonly end: string;
}

export const defaultSchemaCopyTransactionStatements: SchemaCopyTransactionStatements = {
  begin: 'BEGIN',
  end: 'COMMIT',
};

/**
 * Creates all parts of the schema in one transaction, or none.
 * @returns the part that the target rejected, with the error message; undefined if all were created. Throws if the
 * connection is lost.
 */
export async function createSchemaObjectsOrReturnError(
  session: SearchPathSafeSession,
  parts: readonly SchemaObjectDefinition[],
  transaction: SchemaCopyTransactionStatements,
): Promise<string | undefined> {
  const error = await createAll(session, batchStatements(parts), transaction);
  if (error === undefined) return undefined;
  // A message with several statements does not report which statement failed, so after an error the statements run
  // again one by one, and are rolled back.
  return (await findFailingPart(session, parts, transaction)) ?? error;
}

/**
 * Maximum characters of a message with several statements, because one message for each statement would cost a round
 * trip each.
 */
const batchCharacters = 200_000;

function batchStatements(parts: readonly SchemaObjectDefinition[]): readonly string[] {
  const all: string[] = [];
  let text = '';
  for (const statement of parts.flatMap(({ statements }) => statements)) {
    text += `${statement}\n;\n`;
    if (text.length > batchCharacters) {
      all.push(text);
      text = '';
    }
  }
  return text === '' ? all : [...all, text];
}

/** Returns the error message of the server; undefined if all statements were committed. */
async function createAll(
  session: SearchPathSafeSession,
  texts: readonly string[],
  { begin, end }: SchemaCopyTransactionStatements,
): Promise<string | undefined> {
  await session.query(begin);
  for (const text of [...texts, end]) {
    const error = await runSchemaStatementOrReturnError(session, text);
    if (error !== undefined) return error;
  }
  return undefined;
}

async function findFailingPart(
  session: SearchPathSafeSession,
  parts: readonly SchemaObjectDefinition[],
  { begin }: SchemaCopyTransactionStatements,
): Promise<string | undefined> {
  await session.query(begin);
  for (const { name, statements } of parts) {
    for (const statement of statements) {
      const error = await runSchemaStatementOrReturnError(session, statement);
      if (error !== undefined) return `${name} (${error})`;
    }
  }
  await session.query('ROLLBACK');
  return undefined;
}

/** Runs a statement; if it fails, rolls back and returns the error message of the server, else undefined. */
export async function runSchemaStatementOrReturnError(
  session: SearchPathSafeSession,
  text: string,
): Promise<string | undefined> {
  try {
    await session.query(text, schemaCopyStatementTimeout);
    return undefined;
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError) || error.lost) throw error;
    await session.query('ROLLBACK');
    return error.message;
  }
}
