import type { RedisInfo } from '../../../../redis/info.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { markOptional, type QueryResult } from '../../query.ts';
import { declareRedisCheck, outcomeWithoutValue, removeRenameFix } from '../check.ts';
import { infoQuery } from '../queries.ts';

export const renamedWriteCommandsCheck = declareRedisCheck({
  id: 'renamed-writes',
  title: 'no write command has a changed name (rename-command)',
  headline: 'Applications call write commands by changed names (rename-command)',
  severity: { continuous: 'blocker' },
  queries: { info: markOptional(infoQuery) },
  evaluate({ info }, { renamed }) {
    if (renamed.kind !== 'known') return outcomeWithoutValue(renamed, { mayBlock: [] });
    const names = renamed.value.called.map((name) => name.toUpperCase());
    if (names.length === 0) return notCalled(renamed.value.uncalled, info);
    return failOutcome(['continuous'], `called under another name since the start: ${names.join(', ')}`, {
      required: 'the original names, on source and target',
      detail:
        'The replication stream contains the command name that the application sent, which the target does not know: the log of the target has `This replica is sending an error to its master: unknown command`, the link stays up, and every change by a renamed command is lost.',
      objects: names,
      fix: {
        ...removeRenameFix(names, info),
        text: `Remove the rename-command lines for ${names.join(', ')} from redis.conf and restart, and let the applications use the original names. ACL SETUSER can forbid a command to other users.`,
      },
    });
  },
});

/**
 * The outcome for renamed commands that were not called since the start: it is not known whether applications call them
 * during the migration.
 */
function notCalled(renamed: readonly string[], info: QueryResult<RedisInfo>): CheckOutcome {
  const names = renamed.map((name) => name.toUpperCase());
  if (names.length === 0) return passOutcome('every write command has its original name');
  return {
    ...unknownOutcome(`renamed, and not called since the start: ${names.join(', ')}`, {
      ...removeRenameFix(names, info),
      text: `Make sure that no application calls ${names.join(', ')} by another name until the migration has ended, or remove the rename-command lines from redis.conf and restart.`,
    }),
    headline: 'Write commands have changed names (rename-command)',
    premise: 'no application calls a renamed write command during the migration',
    settledBy: '--accept renamed-writes',
    detail:
      'A call of a renamed command during the migration is lost: the replication stream contains the changed name, which the target does not know.',
    objects: names,
  };
}
