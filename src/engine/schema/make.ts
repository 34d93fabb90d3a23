import type { PgSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/failure.ts';
import type { Part } from './part.ts';
import { patience } from './session.ts';

/**
 * Makes all or nothing, in one transaction. Gives the part that the target would not make and its words; throws when
 * the target is lost.
 */
export async function make(session: PgSession, parts: readonly Part[]): Promise<string | undefined> {
  const refusal = await whole(session, bundles(parts));
  if (refusal === undefined) return undefined;
  // A bundle does not tell which of its statements failed: the same again, one by one, and nothing of it is kept.
  return (await named(session, parts)) ?? refusal;
}

/** Characters sent at once: a message for each statement would take a round trip each. */
const bundle = 200_000;

function bundles(parts: readonly Part[]): readonly string[] {
  const all: string[] = [];
  let text = '';
  for (const statement of parts.flatMap(({ statements }) => statements)) {
    text += `${statement}\n;\n`;
    if (text.length > bundle) {
      all.push(text);
      text = '';
    }
  }
  return text === '' ? all : [...all, text];
}

/** Undefined when all of it was made and committed. */
async function whole(session: PgSession, texts: readonly string[]): Promise<string | undefined> {
  await session.query('BEGIN');
  for (const text of [...texts, 'COMMIT']) {
    const refusal = await tried(session, text);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

async function named(session: PgSession, parts: readonly Part[]): Promise<string | undefined> {
  await session.query('BEGIN');
  for (const { name, statements } of parts) {
    for (const statement of statements) {
      const refusal = await tried(session, statement);
      if (refusal !== undefined) return `${name} (${refusal})`;
    }
  }
  await session.query('ROLLBACK');
  return undefined;
}

/** The words of a server that would not; then the transaction is over. */
export async function tried(session: PgSession, text: string): Promise<string | undefined> {
  try {
    await session.query(text, patience);
    return undefined;
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await session.query('ROLLBACK');
    return error.message;
  }
}
