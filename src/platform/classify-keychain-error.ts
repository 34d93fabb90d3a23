import type { KeychainUnavailable } from './host.ts';
import { sanitizeRemoteText } from './sanitize-remote-text.ts';

/** The library's errors have no code that tells them apart, so their text has to. */
export function classifyKeychainError(error: unknown): KeychainUnavailable {
  const reason = sanitizeRemoteText(error instanceof Error ? error.message : String(error));
  const found = errorPatterns.find(({ words }) => words.test(reason));
  return { kind: 'unavailable', why: found?.why ?? 'failed', reason };
}

const errorPatterns: readonly { readonly why: KeychainUnavailable['why']; readonly words: RegExp }[] = [
  { why: 'locked', words: /prompt was dismissed|is locked|IsLocked|interaction is not allowed|user canceled/i },
  {
    why: 'missing',
    // "no result found" is a service that has no default collection to keep an item in.
    words:
      /autolaunch|connect E(NOENT|CONNREFUSED|ACCES)|Failed to connect to socket|ServiceUnknown|not provided by any|No such (file|interface)|NameHasNoOwner|no result found|Unable to autolaunch/i,
  },
  // The bus says NoReply of one that ended as well, and that one is no hung one.
  { why: 'failed', words: /disconnected from message bus without replying/i },
  { why: 'hung', words: /NoReply|Did not receive a reply|timed out/i },
];
