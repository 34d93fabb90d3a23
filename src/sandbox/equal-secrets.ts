import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares secrets in constant time; hashing first hides the length as well. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
