import { formatProfileOption, type ProfileReference } from '../config/settings.ts';
import { personalTeamValue } from '../identity.ts';
import type { OAuthFlow } from '../oauth/build-authorization-url.ts';
import { isKnownScope, isSameOAuthScope } from '../oauth/scope.ts';
import type { TokenEndpointParameterPlacement } from '../oauth/token-endpoint.ts';
import type { LoginSessionFlow } from './account.ts';

/** Formats a command for this profile, in backquotes. */
export function formatCommandForProfile(profile: ProfileReference, words: string): string {
  return `\`cloudctl ${[words, ...formatProfileOption(profile)].join(' ')}\``;
}

/** A hint, or a function that returns the hint with a command for the profile. */
export type StoreErrorHint = string | ((profile: ProfileReference) => string);

/** The command that reads the keys of a share on another machine, in backquotes. */
export function formatShareJoinCommand(profile: ProfileReference): string {
  return `\`cloudctl ${['auth share join', ...formatProfileOption(profile)].join(' ')} < KEYFILE\``;
}

/** The command that changes how the client credentials are sent, for a server that did not find them in the request. */
export function formatTokenParamsSwitchCommand(
  profile: ProfileReference,
  tokenParams: TokenEndpointParameterPlacement,
): string {
  return formatCommandForProfile(profile, `config set token_params ${tokenParams === 'body' ? 'basic' : 'body'}`);
}

/** The command-line options that request the scope; empty if the scope contains characters that a shell could interpret. */
export function formatScopeOption(scope: string): readonly string[] {
  if (!/^[\w.: -]+$/.test(scope)) return [];
  const any = isKnownScope(scope) ? [] : ['--any-scope'];
  return [`--scope ${scope.includes(' ') ? `"${scope}"` : scope}`, ...any];
}

/** The `--flow` option for a login with the same flow; empty if this flow is already the flow of the profile. */
export function formatLoginFlowOption(
  flow: LoginSessionFlow | undefined,
  profileFlow: OAuthFlow = 'code',
): readonly string[] {
  if (flow === 'token') return [tokenInputOptionName];
  return flow === undefined || flow === profileFlow ? [] : [`--flow ${flow}`];
}

export const tokenInputOptionName = '--with-token';

/** The option that requires a context, `personal` or the UUID of a team; empty if the context is not known. */
export function formatTeamOption(team: string | undefined): readonly string[] {
  return team !== undefined && isTeamId(team) ? [`--team ${team}`] : [];
}

/** A context is `personal` or a UUID (RFC 9562 §4). */
export function isTeamId(text: string): boolean {
  return text === personalTeamValue || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** The options that request a scope; empty for the default scope `read`. */
export function formatScopeOptionUnlessDefault(scope: string | undefined): readonly string[] {
  return scope === undefined || isSameOAuthScope(scope, 'read') ? [] : formatScopeOption(scope);
}

/** Commands that repeat a failed login, in backquotes. */
export interface LoginRetryCommands {
  readonly flow: OAuthFlow;
  /** Repeats the login with the same flow and scope. */
  readonly sameRequest: string;
  /** Repeats the login and accepts a grant with another scope. */
  readonly acceptAnyScope: string;
  /** Repeats the login with the other flow. */
  readonly otherFlow: string;
}

/** `profileFlow` is the flow of a login without `--flow`. */
export function buildLoginRetryCommands(
  profile: ProfileReference,
  {
    flow,
    scope,
    team,
  }: { readonly flow: OAuthFlow; readonly scope: string | undefined; readonly team?: string | undefined },
  profileFlow: OAuthFlow | undefined,
): LoginRetryCommands {
  const command = (wanted: OAuthFlow, ...more: readonly string[]): string =>
    formatCommandForProfile(
      profile,
      [
        'auth login',
        ...formatLoginFlowOption(wanted, profileFlow),
        ...formatScopeOptionUnlessDefault(scope),
        ...formatTeamOption(team),
        ...more,
      ].join(' '),
    );
  const other = flow === 'code' ? 'implicit' : 'code';
  return {
    flow,
    sameRequest: command(flow),
    acceptAnyScope: command(flow, '--accept-scope'),
    otherFlow: command(other),
  };
}

/** The first 6 characters of an account's UUID (spec.md §4.1, parameter i). */
export function buildAuthorizationAccountHint(uuid: string | undefined): string | undefined {
  const hint = uuid?.slice(0, 6).toLowerCase();
  return hint !== undefined && /^[0-9a-f]{6}$/.test(hint) ? hint : undefined;
}
