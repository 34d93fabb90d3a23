import type { PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import type { SchemaPart } from './schema-part.ts';
import { schemaStatementTimeout } from './schema-session.ts';

/**
 * Makes all or nothing, in one transaction. Gives the part that the target would not make and its words; throws when
 * the target is lost.
 */
export async function createParts(
  session: PostgresqlSession,
  parts: readonly SchemaPart[],
): Promise<string | undefined> {
  const refusal = await createAll(session, batchStatements(parts));
  if (refusal === undefined) return undefined;
  // A bundle does not tell which of its statements failed: the same again, one by one, and nothing of it is kept.
  return (await findFailingPart(session, parts)) ?? refusal;
}

/** Characters sent at once: a message for each statement would take a round trip each. */
const batchCharacters = 200_000;

function batchStatements(parts: readonly SchemaPart[]): readonly string[] {
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

/** Undefined when all of it was made and committed. */
async function createAll(session: PostgresqlSession, texts: readonly string[]): Promise<string | undefined> {
  await session.query('BEGIN');
  for (const text of [...texts, 'COMMIT']) {
    const refusal = await tryStatement(session, text);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

async function findFailingPart(session: PostgresqlSession, parts: readonly SchemaPart[]): Promise<string | undefined> {
  await session.query('BEGIN');
  for (const { name, statements } of parts) {
    for (const statement of statements) {
      const refusal = await tryStatement(session, statement);
      if (refusal !== undefined) return `${name} (${refusal})`;
    }
  }
  await session.query('ROLLBACK');
  return undefined;
}

/** The words of a server that would not; then the transaction is over. */
export async function tryStatement(session: PostgresqlSession, text: string): Promise<string | undefined> {
  try {
    await session.query(text, schemaStatementTimeout);
    return undefined;
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await session.query('ROLLBACK');
    return error.message;
  }
}
