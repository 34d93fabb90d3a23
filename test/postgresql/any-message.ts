import type { SearchPathSafeMessage } from '../../src/postgresql/search-path-safe-message.ts';

/** A message that the program could not send: tests of the connection itself send others than its own. */
export function anyMessage(text: string): SearchPathSafeMessage {
  return text as SearchPathSafeMessage;
}
