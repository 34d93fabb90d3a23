import type { Flow } from '../oauth/authorization-request.ts';
import { isKnownScope, sameScope } from '../oauth/scope.ts';
import type { TokenParams } from '../oauth/token-endpoint.ts';

/** A command for this profile, in backquotes. */
export function commandFor(profile: string, words: string): string {
  return `\`cloudctl ${words}${profile === 'default' ? '' : ` --profile ${profile}`}\``;
}

/** The command that sends the client's credentials in another way than this one, where a server may look for them. */
export function credentialsElsewhere(profile: string, tokenParams: TokenParams): string {
  return commandFor(profile, `config set token_params ${tokenParams === 'body' ? 'basic' : 'body'}`);
}

/** The words that ask for this scope again; none for one that a shell could take for its own words. */
export function scopeOption(scope: string): readonly string[] {
  // A server's text is not pasted into a shell unless there is nothing in it that a shell could take for its own.
  if (!/^[\w.: -]+$/.test(scope)) return [];
  const any = isKnownScope(scope) ? [] : ['--any-scope'];
  return [`--scope ${scope.includes(' ') ? `"${scope}"` : scope}`, ...any];
}

/** The words that ask for the flow of a session again; none where a login of the profile takes it anyway. */
export function flowAgain(flow: Flow | undefined, ofProfile: Flow = 'code'): readonly string[] {
  return flow === undefined || flow === ofProfile ? [] : [`--flow ${flow}`];
}

/** The words that ask for a scope, and none for the one that a login asks for anyway. */
export function widerScopeOption(scope: string | undefined): readonly string[] {
  return scope === undefined || sameScope(scope, 'read') ? [] : scopeOption(scope);
}

/** How a login that came to nothing is started again: commands in backquotes. */
export interface LoginAgain {
  readonly flow: Flow;
  /** With the same flow and scope. */
  readonly same: string;
  /** Content with another scope than that. */
  readonly anyGrant: string;
  /** In the other flow. */
  readonly otherFlow: string;
}

/** `ofProfile`: the flow of a login that names none. */
export function loginAgain(
  profile: string,
  { flow, scope }: { readonly flow: Flow; readonly scope: string | undefined },
  ofProfile: Flow | undefined,
): LoginAgain {
  const command = (wanted: Flow, ...more: readonly string[]): string =>
    commandFor(profile, ['auth login', ...flowAgain(wanted, ofProfile), ...widerScopeOption(scope), ...more].join(' '));
  const other = flow === 'code' ? 'implicit' : 'code';
  return { flow, same: command(flow), anyGrant: command(flow, '--accept-scope'), otherFlow: command(other) };
}
