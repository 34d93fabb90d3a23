import { CliError } from '../../base/errors.ts';
import { describeTeam } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { accountAndTeam, isSameScope, type TokenGrant } from '../oauth/index.ts';
import type { OAuthLoginOptions } from './oauth-login-options.ts';
import type { LoginRetryCommands } from './suggested-commands.ts';

/**
 * What happens when the granted scope differs from the requested one: store the session, refuse it, or ask the user (rejects
 * when `signal` is aborted).
 */
export type ScopeMismatchPolicy =
  | 'accept'
  | 'refuse'
  | ((requested: string, granted: string, signal: AbortSignal) => Promise<boolean>);

export interface ConfirmGrantedOAuthScopeOptions {
  readonly request: OAuthLoginOptions;
  readonly loginCommands: LoginRetryCommands;
  readonly onOtherScope: ScopeMismatchPolicy;
  /** Called before a question to the user: the browser tab gets its page immediately, because the user may take long to answer. */
  readonly onQuestion: () => void;
  /** Aborts the question to the user. */
  readonly signal: AbortSignal;
}

/** Throws `login_required` when the grant belongs to an account other than the requested one. */
export function requireRequestedAccount(
  grant: TokenGrant,
  request: OAuthLoginOptions,
  loginCommands: LoginRetryCommands,
): void {
  const hint = request.accountHint?.toLowerCase();
  const expected = request.accountUuid?.toLowerCase();
  const uuid = grant.info?.uuid?.toLowerCase();
  const matchesHint = hint === undefined || uuid === undefined || uuid.startsWith(hint);
  requireRequestedTeam(grant, request, loginCommands);
  if (matchesHint && (expected === undefined || expected === uuid)) return;
  throw new CliError('login_required', 'the browser is signed in to another account than the expected one', {
    detail: `the UUID of the expected account begins with ${hint}`,
    hint: `log in without --prompt none: ${loginCommands.sameRequest}`,
  });
}

function requireRequestedTeam(
  grant: TokenGrant,
  { team, prompt }: OAuthLoginOptions,
  loginCommands: LoginRetryCommands,
): void {
  const granted = accountAndTeam(grant.info).team;
  if (team === undefined || team.toLowerCase() === granted?.toLowerCase()) return;
  throw new CliError('login_required', `the session was granted for another context than ${describeTeam(team)}`, {
    detail: `the server granted the session for the ${sanitizeLine(describeTeam(granted))}`,
    hint:
      prompt === 'none'
        ? `log in without --prompt none, and choose the context on the page: ${loginCommands.sameRequest}`
        : `log in again and choose the ${describeTeam(team)} on the page that asks for access: ${loginCommands.sameRequest}`,
  });
}

/**
 * Returns the scope that is stored with a grant. A grant without a scope has the requested scope (RFC 6749 §5.1). Throws
 * `scope_mismatch` when the granted scope differs from the requested one and is not accepted.
 */
export async function confirmGrantedOAuthScope(
  grant: TokenGrant,
  options: ConfirmGrantedOAuthScopeOptions,
): Promise<string> {
  const { request, loginCommands, onOtherScope, onQuestion, signal } = options;
  const requested = request.scope ?? 'read';
  const granted = grant.scope ?? requested;
  if (isSameScope(requested, granted) || onOtherScope === 'accept') return granted;
  if (onOtherScope !== 'refuse') {
    onQuestion();
    if (await onOtherScope(requested, granted, signal)) return granted;
  }
  throw new CliError('scope_mismatch', `the granted scope is "${sanitizeLine(granted)}", not "${requested}"`, {
    hint: `accept the granted scope with ${loginCommands.acceptAnyScope}`,
  });
}
