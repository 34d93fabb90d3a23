import { equalSecrets } from '../equal-secrets.ts';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';

/** Whether the request has the admin token and the exact Host header, which no page in a browser can send together. */
export function isAuthenticatedAdminRequest(request: SandboxHttpRequest, { settings }: SandboxHandlerContext): boolean {
  const tokens = request.header('x-admin-token');
  if (!settings.adminAuthorities.has(request.authority) || tokens.length !== 1) return false;
  return equalSecrets(tokens[0] ?? '', settings.adminToken);
}

/**
 * Whether the request may see the control panel. On a sandbox with a public name, the control panel requires the admin token
 * as the password of Basic authentication (RFC 7617), for which browsers prompt.
 */
export function mayUsePanel(request: SandboxHttpRequest, service: SandboxHandlerContext): boolean {
  const { settings } = service;
  if (!settings.panelNeedsAdminToken || isAuthenticatedAdminRequest(request, service)) return true;
  const [value = '', ...more] = request.header('authorization');
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(value) ?? [];
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  const mark = credentials.indexOf(':');
  return more.length === 0 && mark >= 0 && equalSecrets(credentials.slice(mark + 1), settings.adminToken);
}

export function buildAdminErrorReply(status: number, message: string): SandboxHttpReply {
  return jsonReply(status, { id: IDS.get(status) ?? 'error', message });
}

const IDS: ReadonlyMap<number, string> = new Map([
  [400, 'bad_request'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'timeout'],
  [409, 'conflict'],
  [413, 'payload_too_large'],
  [422, 'unprocessable_entity'],
  [500, 'server_error'],
]);
