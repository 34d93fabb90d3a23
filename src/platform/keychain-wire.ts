import { sanitizeLine } from '../base/sanitize.ts';
import type { ItemAbsent, ItemFound, KeychainUnavailable, OperationDone } from './host.ts';

/** The service name of all keychain items of this program. */
export const serviceName = 'cloudctl';

/** Classifies an error of the keychain by its message, because the errors of the keychain library have no codes. */
export function classifyError(error: unknown): KeychainUnavailable {
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

/** A request to the helper process, one line of JSON. */
export type KeychainRequest =
  | { readonly operation: 'read' | 'remove'; readonly account: string }
  | { readonly operation: 'write'; readonly account: string; readonly value: string };

export type KeychainReply = ItemFound | ItemAbsent | OperationDone | KeychainUnavailable;

/** The line that the helper prints before it calls the keychain; the time limit of the operation starts with this line. */
export const startedLine = 'begun';

/** Decodes one output line of the helper; returns undefined when the line is not a reply. */
export function decodeReply(line: string): KeychainReply | undefined {
  const reply = parsed(line);
  if (typeof reply !== 'object' || reply === null || !('kind' in reply)) return undefined;
  if (reply.kind === 'absent' || reply.kind === 'done') return { kind: reply.kind };
  if (reply.kind === 'found' && 'value' in reply && typeof reply.value === 'string')
    return { kind: 'found', value: reply.value };
  if (reply.kind !== 'unavailable' || !('why' in reply) || !('reason' in reply)) return undefined;
  const why = unavailableReasons.find((name) => name === reply.why);
  if (why === undefined || typeof reply.reason !== 'string') return undefined;
  return { kind: 'unavailable', why, reason: reply.reason };
}

const unavailableReasons = ['locked', 'missing', 'hung', 'failed'] as const;

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
