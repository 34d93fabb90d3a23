import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { closedOrigin } from '../../fixtures/fake-server.ts';
import { makeCertificates } from '../../platform/certificates.ts';

/** Servers that are not what the program expects, each with its origin. */
export interface Servers {
  /** A portal that answers everything with a page, and the page repeats what was asked of it. */
  readonly html: string;
  readonly redirecting: string;
  /** 500 with the error body of the API. */
  readonly failing: string;
  /** Takes requests and never answers. */
  readonly silent: string;
  /** Nobody listens there. */
  readonly closed: string;
  /** A certificate that nobody vouches for. */
  readonly selfSigned: string;
  /** Answers every request as the judge says. */
  answering(judge: Judge): Promise<string>;
  close(): Promise<void>;
}

export type Judge = (request: IncomingMessage) => { readonly status: number; readonly body: object };

export async function startServers(): Promise<Servers> {
  const running: Server[] = [];
  const listening = async (server: Server, scheme = 'http'): Promise<string> => {
    running.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `${scheme}://127.0.0.1:${portOf(server)}`;
  };
  const web = (answer: RequestListener): Promise<string> => listening(createServer(answer));
  const { key, cert } = makeCertificates();
  return {
    html: await web((request, response) => {
      const page = `<!doctype html><title>Sign in</title>${request.url} ${request.headers.authorization}`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    }),
    redirecting: await web((request, response) => {
      response.writeHead(302, { location: `https://elsewhere.example${request.url}` }).end();
    }),
    failing: await web((_request, response) => {
      const body = { id: 'server_error', message: 'Something broke.' };
      send(response, 500, body, { 'x-request-id': 'request-1' });
    }),
    silent: await web(() => {}),
    closed: await closedOrigin(),
    selfSigned: await listening(
      createTlsServer({ key, cert }, (_request, response) => send(response, 200, {})),
      'https',
    ),
    answering: (judge) =>
      web((request, response) => {
        const { status, body } = judge(request);
        send(response, status, body);
      }),
    close: async () => {
      for (const server of running) {
        if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function')
          server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

function send(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
