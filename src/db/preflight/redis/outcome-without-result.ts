import { type MigrationMethod, type PreflightCheckOutcome, skipOutcome, unknownOutcome } from '../finding.ts';
import type { PreflightQueryResult } from '../query.ts';
import { redisMigrationMethods } from './check.ts';
import { redisAdministratorText } from './fixes.ts';

/** The outcome of a check whose query has no value: `unknown`, with a fix that describes how to get a value. */
export function buildRedisOutcomeWithoutQueryResult(
  result: Exclude<PreflightQueryResult<unknown>, { kind: 'known' }>,
  { mayBlock = redisMigrationMethods }: { readonly mayBlock?: readonly MigrationMethod[] } = {},
): PreflightCheckOutcome {
  switch (result.kind) {
    case 'skipped':
      return skipOutcome(result.reason);
    case 'failed':
      return {
        ...unknownOutcome(result.reason, {
          text: isRedisBusyError(result.reason)
            ? 'Wait until the script has ended (see busy-script), then run the preflight again.'
            : 'Run the preflight again when the server responds.',
        }),
        settledBy: 'cloudctl db preflight',
      };
    case 'denied':
      return {
        ...unknownOutcome(result.reason, {
          sql: [result.grant],
          ...(result.revoke === undefined ? {} : { undo: [result.revoke] }),
          by: redisAdministratorText,
          notSimulated: 'what the command returns after the change is not known',
          text: 'Allow the user to run the command (ACL SETUSER), then run the preflight again.',
        }),
        settledBy: result.grant,
      };
    case 'missing':
      return mayBlock.includes('continuous')
        ? {
            ...unknownOutcome(result.reason, {
              text: 'The server is too old for the command, or hides it. Ask the operator of the server, or run with --probe, which tests PSYNC itself.',
            }),
            settledBy: '--probe',
          }
        : unknownOutcome(result.reason, {
            text: 'The server is too old for the command, or hides it. Ask the operator of the server.',
          });
    default:
      return result satisfies never;
  }
}

/** The error code in the reply to every command while a script runs longer than busy-reply-threshold. */
export function isRedisBusyError(reason: string): boolean {
  return /(^|: )BUSY /.test(reason);
}
