import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { closeHttpServer, createHttpServer, type HttpHandler, startListening } from './http-server.ts';

/** An origin that is served by one HTTP server for each loopback address. */
export interface ListeningOrigin {
  readonly port: number;
  readonly origin: string;
  readonly close: () => Promise<void>;
}

export const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/**
 * Listens on host and port; port 0 means any free port. The host `localhost` means both loopback addresses, so that no other
 * program can listen on the address that a browser tries first. Rejects with the same errors as `startListening`.
 */
export async function listenOnOrigin(
  host: string,
  port: number,
  handlerOf: (port: number) => HttpHandler,
  limitOf?: (message: IncomingMessage) => number,
): Promise<ListeningOrigin> {
  let actualPort = port;
  const create = (): Server => createHttpServer((message, body) => handlerOf(actualPort)(message, body), limitOf);
  const first = create();
  actualPort = await startListening(first, host === 'localhost' ? '127.0.0.1' : host, port);
  const servers = [first];
  if (host === 'localhost') {
    const second = create();
    try {
      await startListening(second, '::1', actualPort);
      servers.push(second);
    } catch (error) {
      if (!isMissingAddress(error)) {
        await closeHttpServer(first);
        throw error;
      }
    }
  }
  return {
    port: actualPort,
    origin: formatOrigin(host, actualPort),
    close: async () => {
      await Promise.all(servers.map(closeHttpServer));
    },
  };
}

/** Serializes an origin in the form in which clients compare origins: without the default port (RFC 6454 §6.2). */
export function formatOrigin(host: string, port: number): string {
  return new URL(`http://${host === '::1' ? '[::1]' : host}:${port}`).origin;
}

/** Finds several different free ports. All ports stay bound until the last one is found, so that they differ from each other. */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const probes = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(
      probes.map(
        (probe) =>
          new Promise<number>((resolve, reject) => {
            probe.once('error', reject);
            probe.listen(0, '127.0.0.1', () => resolve(portOf(probe.address())));
          }),
      ),
    );
  } finally {
    for (const probe of probes) probe.close();
  }
}

function portOf(address: AddressInfo | string | null): number {
  return address !== null && typeof address === 'object' ? address.port : 0;
}

/** A machine without IPv6 does not have the address ::1. */
function isMissingAddress(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';
}
