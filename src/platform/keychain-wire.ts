import type { KeychainItemAbsent, KeychainItemFound, KeychainOperationDone, KeychainUnavailable } from './host.ts';

/** A request to the helper process, one line of JSON. */
export type KeychainRequest =
  | { readonly operation: 'read' | 'remove'; readonly account: string }
  | { readonly operation: 'write'; readonly account: string; readonly value: string };

export type KeychainReply = KeychainItemFound | KeychainItemAbsent | KeychainOperationDone | KeychainUnavailable;

/** The line that the helper prints before it calls the keychain; the time limit of the operation starts with this line. */
export const keychainOperationStartedLine = 'begun';

/** Decodes one output line of the helper; returns undefined when the line is not a reply. */
export function decodeKeychainHelperReply(line: string): KeychainReply | undefined {
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
