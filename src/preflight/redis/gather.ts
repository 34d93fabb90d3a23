import type { RedisSession, Words } from '../../redis/connection.ts';
import { CommandError, ownCodes } from '../../redis/failure.ts';
import { commandLine } from '../../redis/quote.ts';
import type { Answer, Ask, AskContext, Asks } from './ask.ts';
import type { AnyCheck } from './check.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any type, each under its own question.
export type Answers = ReadonlyMap<Ask<any>, Answer<any>>;

/** Every question of the checks once, all of them sent before the first reply is read. */
export async function gather(
  session: RedisSession,
  checks: readonly AnyCheck[],
  context: AskContext,
  limit: number,
  heard: (words: Words) => void,
): Promise<Answers> {
  const asks = [...new Set(checks.flatMap(({ asks }) => asksOf(asks)))];
  const answers = asks.map(async (ask) => {
    return [ask, await askOne(session, ask, context, limit, heard)] as const;
  });
  return new Map(await Promise.all(answers));
}

/** Sends it at once. */
export function askOne<T>(
  session: RedisSession,
  ask: Ask<T>,
  context: AskContext,
  limit: number,
  heard: (words: Words) => void,
): Promise<Answer<T>> {
  const words = ask.words(context);
  heard(words);
  return answered(
    session.send(words, limit).then((reply) => ask.decode(reply)),
    ask,
    context,
  );
}

/** The answer to a question, when there is one. */
export function knownTo<T>(answers: Answers, ask: Ask<T>): T | undefined {
  const answer: Answer<T> | undefined = answers.get(ask);
  return answer?.kind === 'known' ? answer.value : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the questions behind the names of any check.
export function asksOf(asks: Asks): readonly Ask<any>[] {
  return Object.values(asks).map((one) => ('maybe' in one ? one.maybe : one));
}

/** What became of a question, as a value. */
export async function answered<T>(
  asked: Promise<T>,
  { id, permission }: Pick<Ask<T>, 'id' | 'permission'>,
  { user }: AskContext,
): Promise<Answer<T>> {
  try {
    return { kind: 'known', value: await asked };
  } catch (error) {
    if (!(error instanceof CommandError))
      return { kind: 'failed', reason: `${id}: the reply cannot be read`, broke: false };
    const reason = `${id}: ${error.message}`;
    if (error.code === 'NOPERM') {
      // The command is allowed and the key is not: which patterns were there before is not told here.
      if (/permissions to access/i.test(error.message)) {
        return { kind: 'denied', reason, grant: commandLine('ACL', 'SETUSER', user, '~*') };
      }
      const needed = refusedOf(permission, error.message);
      return {
        kind: 'denied',
        reason,
        grant: commandLine('ACL', 'SETUSER', user, ...needed),
        revoke: commandLine('ACL', 'SETUSER', user, ...needed.map((one) => one.replace('+', '-'))),
      };
    }
    if (error.code === 'LOADING') return { kind: 'skipped', reason: 'the server is still loading its data' };
    if (error.code === 'MASTERDOWN') return { kind: 'skipped', reason: 'the replica has lost its primary' };
    if (/unknown (sub)?command|wrong number of arg/i.test(error.message)) return { kind: 'missing', reason };
    // Our own deadline proves nothing about the server.
    const broke = error.lost && error.code !== ownCodes.aborted;
    return { kind: 'failed', reason, broke, ...(error.code === ownCodes.timeout ? { late: true } : {}) };
  }
}

/** Of several permissions the one that was refused, as far as the server names it: only that is granted and taken back. */
function refusedOf(permission: string, message: string): readonly string[] {
  const all = permission.split(' ');
  const [, name] = /'([a-z|]+)' command/i.exec(message) ?? [];
  const named = all.filter((one) => one === `+${name}`);
  return named.length > 0 ? named : all;
}
