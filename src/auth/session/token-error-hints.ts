import type { ProfileReference } from '../../config/settings.ts';
import type { TokenPlacement } from '../oauth/index.ts';
import { formatCommandForProfile, formatTokenParamsSwitchCommand } from './suggested-commands.ts';

/** What a request to the token endpoint or the revocation endpoint was sent for. */
export type TokenOperation = 'exchange' | 'refresh' | 'revokeAccessToken' | 'revokeRefreshToken';

export interface TokenErrorContext {
  readonly operation: TokenOperation;
  /** Origin of the authorization server. */
  readonly origin: string;
  readonly profile: ProfileReference;
  readonly tokenParams: TokenPlacement;
  /** Whether the server is known to follow docs/service.md, which sends the parameters in the query (S5.1). */
  readonly isSpecServer: boolean;
  /** The command that logs in again, in backquotes. */
  readonly loginCommand: string;
  /** How an earlier attempt to send the same request failed, if the server may have processed it. */
  readonly earlierFailure?: string | undefined;
  /** The command that logs in after `token_params` of the profile was changed (default: `loginCommand`). */
  readonly loginCommandAfterSwitch?: string;
  /** The consequence for the session, which is added to the detail of the error. */
  readonly consequence?: string;
}

/** The hints of errors of the token endpoint, each with the commands for the profile. */
export const tokenErrorHints = {
  retry: (context: TokenErrorContext): string => retry(context),
  retryLater: ({ operation, loginCommand }: TokenErrorContext): string =>
    operation === 'exchange' ? `log in again later: ${loginCommand}` : 'run the command again later',
  /** A server that expects form parameters may fail at an empty body. */
  retryLaterOrSendForm: (context: TokenErrorContext): string => {
    const form = context.operation === 'exchange' && mayExpectForm(context) ? sendForm(context) : undefined;
    return [
      tokenErrorHints.retryLater(context),
      ...(form === undefined ? [] : [`if the error persists, ${form}`]),
    ].join('; ');
  },
  /**
   * A refresh with its parameters in the query contains no client credentials (docs/service.md S5.7), so changing the credentials would
   * not help.
   */
  checkClient: (context: TokenErrorContext): string => {
    const { operation, profile } = context;
    if (operation === 'refresh' && mayExpectForm(context)) return sendForm(context);
    const setup = `set the client ID and secret with ${formatCommandForProfile(profile, 'auth setup')}`;
    // Some servers read the client credentials from one place only (RFC 6749 §2.3.1), and report only that they are missing.
    const isOnlyWay = context.tokenParams === 'query' && (context.isSpecServer || operation === 'refresh');
    return isOnlyWay ? setup : `${setup}; if they are correct, ${sendForm(context)}`;
  },
  sendForm: (context: TokenErrorContext): string => (mayExpectForm(context) ? sendForm(context) : retry(context)),
  /** Some servers bind a refresh token to the client credentials (RFC 6749 §6), which the query form does not contain. */
  sendCredentials: (context: TokenErrorContext): string =>
    mayExpectForm(context) ? `run ${formCommand(context)}, then ${context.loginCommand}` : context.loginCommand,
  checkAuthUrl: (context: TokenErrorContext): string => `${checkAuthUrl}, then ${retry(context)}`,
  checkAuthUrlAndForm: (context: TokenErrorContext): string => {
    const check = `${checkAuthUrl}, then ${retry(context)}`;
    return mayExpectForm(context) ? `${check}; if the URL is correct, ${sendForm(context)}` : check;
  },
} as const;

const checkAuthUrl = 'check auth_url with `cloudctl config list`';

function retry({ operation, loginCommand }: TokenErrorContext): string {
  return operation === 'exchange'
    ? loginCommand
    : `run the command again; if the error persists, log in: ${loginCommand}`;
}

function sendForm(context: TokenErrorContext): string {
  const { loginCommand, loginCommandAfterSwitch = loginCommand } = context;
  return `run ${formCommand(context)}, then ${retry({ ...context, loginCommand: loginCommandAfterSwitch })}`;
}

function formCommand({ profile, tokenParams }: TokenErrorContext): string {
  return formatTokenParamsSwitchCommand(profile, tokenParams);
}

function mayExpectForm({ tokenParams, isSpecServer }: TokenErrorContext): boolean {
  return tokenParams === 'query' && !isSpecServer;
}
