import { type ProfileReference, profileOption } from '../config/settings.ts';
import { personalAccountContext } from '../identity.ts';
import type { OAuthFlow } from '../oauth/authorization-url.ts';
import { isKnownScope, sameScope } from '../oauth/scope.ts';
import type { TokenParams } from '../oauth/token-endpoint.ts';
import type { SessionFlow } from './account.ts';

/** Formats a command for this profile, in backquotes. */
export function profileCommand(profile: ProfileReference, words: string): string {
  return `\`cloudctl ${[words, ...profileOption(profile)].join(' ')}\``;
}

/** The command that changes how the client credentials are sent, for a server that did not find them in the request. */
export function otherTokenParamsCommand(profile: ProfileReference, tokenParams: TokenParams): string {
  return profileCommand(profile, `config set token_params ${tokenParams === 'body' ? 'basic' : 'body'}`);
}

/** The command-line options that request the scope; empty if the scope contains characters that a shell could interpret. */
export function scopeOption(scope: string): readonly string[] {
  if (!/^[\w.: -]+$/.test(scope)) return [];
  const any = isKnownScope(scope) ? [] : ['--any-scope'];
  return [`--scope ${scope.includes(' ') ? `"${scope}"` : scope}`, ...any];
}

/** The option that selects the same flow for a new login; empty if it is the flow of the profile. */
export function flowOption(flow: SessionFlow | undefined, profileFlow: OAuthFlow = 'code'): readonly string[] {
  if (flow === 'token') return [withTokenOption];
  return flow === undefined || flow === profileFlow ? [] : [`--flow ${flow}`];
}

export const withTokenOption = '--with-token';

/** The option that requires a context, `personal` or the UUID of a team; empty if the context is not known. */
export function teamOption(team: string | undefined): readonly string[] {
  return team !== undefined && isTeamId(team) ? [`--team ${team}`] : [];
}

/** A context is `personal` or a UUID (RFC 9562 §4). */
export function isTeamId(text: string): boolean {
  return text === personalAccountContext || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** The options that request a scope; empty for the default scope `read`. */
export function scopeOptionUnlessDefault(scope: string | undefined): readonly string[] {
  return scope === undefined || sameScope(scope, 'read') ? [] : scopeOption(scope);
}

/** Commands that repeat a failed login, in backquotes. */
export interface LoginCommands {
  readonly flow: OAuthFlow;
  /** Repeats the login with the same flow and scope. */
  readonly sameRequest: string;
  /** Repeats the login and accepts a grant with another scope. */
  readonly acceptAnyScope: string;
  /** Repeats the login with the other flow. */
  readonly otherFlow: string;
}

/** `profileFlow` is the flow of a login without `--flow`. */
export function loginCommands(
  profile: ProfileReference,
  {
    flow,
    scope,
    team,
  }: { readonly flow: OAuthFlow; readonly scope: string | undefined; readonly team?: string | undefined },
  profileFlow: OAuthFlow | undefined,
): LoginCommands {
  const command = (wanted: OAuthFlow, ...more: readonly string[]): string =>
    profileCommand(
      profile,
      [
        'auth login',
        ...flowOption(wanted, profileFlow),
        ...scopeOptionUnlessDefault(scope),
        ...teamOption(team),
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
