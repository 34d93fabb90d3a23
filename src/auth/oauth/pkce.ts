import { createHash } from 'node:crypto';
import { Secret } from '../../base/secret.ts';

export interface Pkce {
  readonly verifier: Secret;
  readonly challenge: string;
}

/**
 * Proof key for code exchange, S256 (https://www.rfc-editor.org/rfc/rfc7636#section-4.2). A server that does not support PKCE
 * ignores its parameters (RFC 6749 §3.1).
 */
export function createPkce(random: (bytes: number) => Uint8Array): Pkce {
  const verifier = Buffer.from(random(32)).toString('base64url');
  const challenge = createHash('sha256').update(verifier, 'ascii').digest('base64url');
  return { verifier: new Secret(verifier), challenge };
}
