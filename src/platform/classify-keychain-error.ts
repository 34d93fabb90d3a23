import { sanitizeLine } from '../base/sanitize.ts';
import type { KeychainUnavailable } from './host.ts';

/** Classifies an error of the keychain by its message, because the errors of the keychain library have no codes. */
export function classifyKeychainError(error: unknown): KeychainUnavailable {
  const reason = sanitizeLine(error instanceof Error ? error.message : String(error));
  const found = errorPatterns.find(({ words }) => words.test(reason));
  return { kind: 'unavailable', why: found?.why ?? 'failed', reason };
}

const errorPatterns: readonly { readonly why: KeychainUnavailable['why']; readonly words: RegExp }[] = [
  {
    why: 'locked',
    words:
      /prompt was dismissed|is locked|IsLocked|interaction is not allowed|user canceled|passphrase you entered is not correct/i,
  },
  {
    why: 'missing',
    // The message "no result found" means that the keychain service has no default collection. The last three messages are
    // of macOS (SecBase.h) and of Windows: a logon over the network, such as SSH, has no Credential Manager.
    words:
      /autolaunch|connect E(NOENT|CONNREFUSED|ACCES)|Failed to connect to socket|ServiceUnknown|not provided by any|No such (file|interface)|NameHasNoOwner|no result found|Unable to autolaunch|default keychain could not be found|No keychain is available|ERROR_NO_SUCH_LOGON_SESSION/i,
  },
  // D-Bus also reports NoReply for a service that has ended, so the text of the message distinguishes it from a service that
  // hangs.
  { why: 'failed', words: /disconnected from message bus without replying/i },
  { why: 'hung', words: /NoReply|Did not receive a reply|timed out/i },
];
