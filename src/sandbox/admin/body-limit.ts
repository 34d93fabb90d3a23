import type { IncomingMessage } from 'node:http';
import { equalSecrets } from '../equal-secrets.ts';
import type { SandboxSettings } from '../handler-context.ts';
import { DEFAULT_BODY_LIMIT } from '../http/http-server.ts';

const SNAPSHOT_LIMIT = 512 * 1024 * 1024;

/** Maximum size of a request body in bytes. Requests with the admin token that restore a snapshot may be larger. */
export function determineRequestBodyLimit(
  message: IncomingMessage,
  settings: Pick<SandboxSettings, 'adminToken'>,
): number {
  if (message.url !== '/_sandbox/restore') return DEFAULT_BODY_LIMIT;
  const tokens = message.headersDistinct['x-admin-token'] ?? [];
  return tokens.length === 1 && equalSecrets(tokens[0] ?? '', settings.adminToken)
    ? SNAPSHOT_LIMIT
    : DEFAULT_BODY_LIMIT;
}
