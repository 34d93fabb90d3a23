import { createServer, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Sandbox } from '../../fixtures/sandbox.ts';
import type { SecretLedger } from './secrets.ts';

/** Stands before the authorization server for the program alone, and sees the grants that are issued to it. */
export interface TokenRecorder {
  /** For `--auth-url`. */
  readonly url: string;
  readonly grants: readonly RecordedGrant[];
  /** The same page at the sandbox itself, for the browser. */
  behind(address: string): string;
}

export interface RecordedGrant {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

export async function startTokenRecorder(sandbox: Sandbox, secrets: SecretLedger): Promise<TokenRecorder> {
  const grants: RecordedGrant[] = [];
  const server = createServer(async (request, response) => {
    const { authorization } = request.headers;
    const answer = await fetch(new URL(request.url ?? '/', sandbox.auth_url), {
      method: request.method ?? 'GET',
      headers: authorization === undefined ? {} : { authorization },
      ...(request.method === 'POST' ? { body: await textOf(request) } : {}),
    });
    const text = await answer.text();
    const body: Partial<RecordedGrant> = JSON.parse(text);
    const { access_token, refresh_token, scope = '' } = body;
    if (access_token !== undefined && refresh_token !== undefined) {
      grants.push({ access_token, refresh_token, scope });
      secrets.add(access_token, refresh_token);
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  return { url, grants, behind: (page) => page.replace(url, sandbox.auth_url) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
