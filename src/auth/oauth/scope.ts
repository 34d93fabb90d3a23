/** The two scopes of the service (docs/service.md S3); any other scope requires `--any-scope`. */
export const knownScopes = ['read', 'read write'] as const;

/** The words of a scope, without duplicates, sorted. An absent scope means `read` (docs/service.md S3.1). */
export function splitOAuthScope(scope: string | undefined): readonly string[] {
  const words = (scope ?? '').split(' ').filter((word) => word !== '');
  return words.length === 0 ? ['read'] : [...new Set(words)].sort();
}

/** Two scopes are equal when they contain the same words in any order (RFC 6749 §3.3). */
export function isSameOAuthScope(a: string | undefined, b: string | undefined): boolean {
  return splitOAuthScope(a).join(' ') === splitOAuthScope(b).join(' ');
}

export function hasWriteScope(scope: string): boolean {
  return splitOAuthScope(scope).includes('write');
}

export function isKnownScope(scope: string): boolean {
  return knownScopes.some((known) => isSameOAuthScope(known, scope));
}
