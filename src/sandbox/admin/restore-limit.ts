import type { IncomingMessage } from 'node:http';
import { equalSecrets } from '../equal.ts';
import { BODY_LIMIT } from '../http/listener.ts';
import type { Settings } from '../service.ts';

const RESTORE_LIMIT = 512 * 1024 * 1024;

/** A snapshot may be large, but only whoever holds the admin token may send one. */
export function bodyLimit(message: IncomingMessage, settings: Pick<Settings, 'adminToken'>): number {
  if (message.url !== '/_sandbox/restore') return BODY_LIMIT;
  const tokens = message.headersDistinct['x-admin-token'] ?? [];
  return tokens.length === 1 && equalSecrets(tokens[0] ?? '', settings.adminToken) ? RESTORE_LIMIT : BODY_LIMIT;
}
