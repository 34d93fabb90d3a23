import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares secrets in constant time. The hashes of the secrets are compared, which also hides a difference in length. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
