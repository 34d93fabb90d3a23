import type { IncomingMessage } from 'node:http';
import { equalSecrets } from '../equal-secrets.ts';
import { DEFAULT_BODY_LIMIT } from '../http/http-server.ts';
import type { SandboxSettings } from '../service.ts';

const RESTORE_LIMIT = 512 * 1024 * 1024;

/** A snapshot may be large, but only whoever holds the admin token may send one. */
export function requestBodyLimit(message: IncomingMessage, settings: Pick<SandboxSettings, 'adminToken'>): number {
  if (message.url !== '/_sandbox/restore') return DEFAULT_BODY_LIMIT;
  const tokens = message.headersDistinct['x-admin-token'] ?? [];
  return tokens.length === 1 && equalSecrets(tokens[0] ?? '', settings.adminToken) ? RESTORE_LIMIT : DEFAULT_BODY_LIMIT;
}
