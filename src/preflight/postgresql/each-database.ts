import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import type { Ask } from './ask.ts';
import { databases } from './asks/databases.ts';
import { askOn, type Visit, visit } from './database.ts';
import { gatherGround } from './entry.ts';
import { readAnswer } from './gather.ts';
import { chosen } from './ignore.ts';

export interface EachOptions {
  readonly source: PostgresSource;
  readonly ignoreDbs: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly nearest: (word: string, known: readonly string[]) => string | undefined;
  readonly onSent?: (database: string, text: string) => void;
}

export type Told<T> =
  | { readonly database: string; readonly value: T }
  /** Why it could not be asked. */
  | { readonly database: string; readonly failure: string };

/** Asks one question of every database to be migrated, one after the other. Throws `source_unreachable` when the source cannot be entered. */
export async function askEachDatabase<T>(options: EachOptions, ask: Ask<T>): Promise<readonly Told<T>[]> {
  const { signal, clock, onSent = () => {} } = options;
  const wayIn = await gatherGround(options.source, { signal, onSent });
  const { entry, dbname } = wayIn.ground;
  if (wayIn.session === undefined || entry.kind !== 'entered') {
    const reason = entry.kind === 'entered' ? 'there is no session' : entry.message;
    throw new CliError('source_unreachable', `could not enter the source: ${reason}`, {
      hint: 'the same options with `cloudctl db preflight` tell what to do',
    });
  }
  const context = { inRecovery: entry.inRecovery, superuser: entry.superuser };
  const way: Visit = { source: wayIn.source, version: entry.version, context, plan: new Map(), clock, signal, onSent };
  const { session } = wayIn;
  const known = await askOn(session, dbname, [databases], way).finally(() => session.end());
  const names = chosen(readAnswer(known.answers, databases) ?? [], options.ignoreDbs, options.nearest);
  const told: Told<T>[] = [];
  for (const name of names) told.push(await askOne(name, ask, way));
  return told;
}

async function askOne<T>(database: string, ask: Ask<T>, way: Visit): Promise<Told<T>> {
  const { answers, reach } = await visit(database, [ask], way);
  const answer = answers.get(ask);
  const value = readAnswer(answers, ask);
  if (value !== undefined) return { database, value };
  if (answer !== undefined && 'reason' in answer) return { database, failure: answer.reason };
  return { database, failure: 'message' in reach ? reach.message : 'no answer' };
}
