import { isKnownScope, sameScope } from '../oauth/scope.ts';

/** A command for this profile, in backquotes. */
export function commandFor(profile: string, words: string): string {
  return `\`cloudctl ${words}${profile === 'default' ? '' : ` --profile ${profile}`}\``;
}

/** The words that ask for this scope again; none for one that a shell could take for its own words. */
export function scopeOption(scope: string): readonly string[] {
  // A server's text is not pasted into a shell unless there is nothing in it that a shell could take for its own.
  if (!/^[\w.: -]+$/.test(scope)) return [];
  const any = isKnownScope(scope) ? [] : ['--any-scope'];
  return [`--scope ${scope.includes(' ') ? `"${scope}"` : scope}`, ...any];
}

/** The same, and none for the scope that a login asks for anyway. */
export function widerScopeOption(scope: string | undefined): readonly string[] {
  return scope === undefined || sameScope(scope, 'read') ? [] : scopeOption(scope);
}
