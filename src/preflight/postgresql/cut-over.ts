import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import { databases } from './asks/databases.ts';
import { sequenceStates } from './asks/sequences.ts';
import { askOn, type Visit, visit } from './database.ts';
import { gatherGround } from './entry.ts';
import { readAnswer } from './gather.ts';
import { chosen } from './ignore.ts';
import { type SequenceScript, sequenceScript } from './sequences.ts';

export interface CutOverOptions {
  readonly source: PostgresSource;
  readonly ignoreDbs: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly nearest: (word: string, known: readonly string[]) => string | undefined;
  readonly onSent?: (database: string, text: string) => void;
}

export interface DatabaseSequences extends SequenceScript {
  readonly database: string;
  /** Why it could not be asked; the statements are missing then. */
  readonly failure?: string;
}

/** What sets the sequences of the target, database by database. Throws `source_unreachable` when the source cannot be entered. */
export async function readSequences(options: CutOverOptions): Promise<readonly DatabaseSequences[]> {
  const { signal, clock, onSent = () => {} } = options;
  const wayIn = await gatherGround(options.source, { signal, onSent });
  const { entry, dbname } = wayIn.ground;
  if (wayIn.session === undefined || entry.kind !== 'entered') {
    throw new CliError(
      'source_unreachable',
      `could not enter the source: ${entry.kind === 'entered' ? 'no session' : entry.message}`,
      {
        hint: 'the same options with `cloudctl db preflight` tell what to do',
      },
    );
  }
  const context = { inRecovery: entry.inRecovery, superuser: entry.superuser };
  const way: Visit = { source: wayIn.source, version: entry.version, context, clock, signal, onSent };
  const known = await askOn(wayIn.session, dbname, [databases], way).finally(() => wayIn.session?.end());
  const names = chosen(readAnswer(known.answers, databases) ?? [], options.ignoreDbs, options.nearest);
  const scripts: DatabaseSequences[] = [];
  // One after the other: at the cut-over the source is quiet, and order matters to whoever reads the script.
  for (const name of names) scripts.push(await sequencesOf(name, way));
  return scripts;
}

async function sequencesOf(database: string, way: Visit): Promise<DatabaseSequences> {
  const { answers, reach } = await visit(database, [sequenceStates], way);
  const states = readAnswer(answers, sequenceStates);
  if (states !== undefined) return { database, ...sequenceScript(states) };
  const answer = answers.get(sequenceStates);
  const reason =
    answer !== undefined && 'reason' in answer ? answer.reason : 'message' in reach ? reach.message : 'no answer';
  return { database, statements: [], hidden: [], failure: reason };
}
