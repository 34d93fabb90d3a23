import type { PgSession } from '../../postgresql/connection.ts';
import { dependencies, multiranges, pieces } from './dependencies.ts';
import { notes } from './notes.ts';
import type { Pair } from './order.ts';
import { type Part, pairs, plain, readPart, type Versions } from './part.ts';
import { questions } from './questions.ts';
import { columnOf, patience } from './session.ts';
import { unsupported } from './unsupported.ts';

/** A schema as its server tells it. */
export interface Schema {
  readonly parts: readonly Part[];
  readonly dependencies: readonly Pair[];
  readonly pieces: readonly Pair[];
  /** What is there and cannot be made by us. */
  readonly unsupported: readonly string[];
  /** What is left behind on purpose. */
  readonly notes: readonly string[];
}

/** Reads in one transaction that cannot write. */
export async function readSchema(session: PgSession, versions: Versions): Promise<Schema> {
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const parts: Part[] = [];
  for (const { kind, text } of questions) {
    const [rows = []] = await session.query(text(versions), patience);
    parts.push(...rows.map((row) => readPart(kind, row)));
  }
  const schema = {
    parts: parts.filter(({ statements }) => statements.length > 0),
    dependencies: await pairsOf(session, dependencies),
    pieces: [
      ...(await pairsOf(session, pieces)),
      ...(versions.from >= 140_000 ? await pairsOf(session, multiranges) : []),
    ],
    unsupported: (await columnOf(session, unsupported(versions), 'name')).map(plain),
    notes: await columnOf(session, notes, 'note'),
  };
  await session.query('COMMIT');
  return schema;
}

async function pairsOf(session: PgSession, text: string): Promise<readonly Pair[]> {
  const [rows = []] = await session.query(text, patience);
  return pairs(rows[0]?.pairs);
}
