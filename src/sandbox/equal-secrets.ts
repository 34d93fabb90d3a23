import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Compares secrets in constant time. The hashes of the secrets are compared, which also hides a difference in length. Like all
 * of the sandbox it shares no code with the client, so that an error in one of them is noticed by the other.
 */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
