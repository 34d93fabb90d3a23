import type { OAuthFlow } from '../oauth/authorization-url.ts';
import { isKnownScope, sameScope } from '../oauth/scope.ts';
import type { TokenParams } from '../oauth/token-endpoint.ts';

/** A command for this profile, in backquotes. */
export function profileCommand(profile: string, words: string): string {
  return `\`cloudctl ${words}${profile === 'default' ? '' : ` --profile ${profile}`}\``;
}

/** The command that sends the client's credentials in another way than this one, where a server may look for them. */
export function otherTokenParamsCommand(profile: string, tokenParams: TokenParams): string {
  return profileCommand(profile, `config set token_params ${tokenParams === 'body' ? 'basic' : 'body'}`);
}

/** The words that ask for this scope again; none for one that a shell could take for its own words. */
export function scopeOption(scope: string): readonly string[] {
  // A server's text is not pasted into a shell unless there is nothing in it that a shell could take for its own.
  if (!/^[\w.: -]+$/.test(scope)) return [];
  const any = isKnownScope(scope) ? [] : ['--any-scope'];
  return [`--scope ${scope.includes(' ') ? `"${scope}"` : scope}`, ...any];
}

/** The words that ask for the flow of a session again; none where a login of the profile takes it anyway. */
export function flowOption(flow: OAuthFlow | undefined, ofProfile: OAuthFlow = 'code'): readonly string[] {
  return flow === undefined || flow === ofProfile ? [] : [`--flow ${flow}`];
}

/** The words that ask for a scope, and none for the one that a login asks for anyway. */
export function scopeOptionUnlessDefault(scope: string | undefined): readonly string[] {
  return scope === undefined || sameScope(scope, 'read') ? [] : scopeOption(scope);
}

/** How a login that came to nothing is started again: commands in backquotes. */
export interface LoginCommands {
  readonly flow: OAuthFlow;
  /** With the same flow and scope. */
  readonly sameRequest: string;
  /** Content with another scope than that. */
  readonly acceptAnyScope: string;
  /** In the other flow. */
  readonly otherFlow: string;
}

/** `ofProfile`: the flow of a login that names none. */
export function loginCommands(
  profile: string,
  { flow, scope }: { readonly flow: OAuthFlow; readonly scope: string | undefined },
  ofProfile: OAuthFlow | undefined,
): LoginCommands {
  const command = (wanted: OAuthFlow, ...more: readonly string[]): string =>
    profileCommand(
      profile,
      ['auth login', ...flowOption(wanted, ofProfile), ...scopeOptionUnlessDefault(scope), ...more].join(' '),
    );
  const other = flow === 'code' ? 'implicit' : 'code';
  return {
    flow,
    sameRequest: command(flow),
    acceptAnyScope: command(flow, '--accept-scope'),
    otherFlow: command(other),
  };
}
