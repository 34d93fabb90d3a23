import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { closeHttpServer, createHttpServer, type HttpHandler, startListening } from './http-server.ts';
import {
  buildSandboxServerOriginAndHosts,
  type SandboxServerOriginAndHosts,
} from './sandbox-server-origin-and-hosts.ts';

/** An origin that is served by one HTTP server for each address. */
export interface ListeningHttpServers extends SandboxServerOriginAndHosts {
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface ListeningHttpServersOptions {
  /** The host of all URLs that the origin hands out (default: the host on which it listens). */
  readonly publicHost?: string | undefined;
  /** Creates the handler of a request from the names of the origin, which are known once the port is bound. */
  readonly handlerOf: (names: SandboxServerOriginAndHosts) => HttpHandler;
  readonly limitOf?: (message: IncomingMessage) => number;
}

/**
 * Listens on host and port; port 0 means any free port. The host `localhost` means both loopback addresses, so that no other
 * program can listen on the address that a browser tries first. Rejects with the same errors as `startListening`.
 */
export async function startListeningHttpServers(
  host: string,
  port: number,
  { publicHost, handlerOf, limitOf }: ListeningHttpServersOptions,
): Promise<ListeningHttpServers> {
  let names = buildSandboxServerOriginAndHosts(host, port, publicHost);
  const create = (): Server => createHttpServer((message, body) => handlerOf(names)(message, body), limitOf);
  const first = create();
  const actualPort = await startListening(first, host === 'localhost' ? '127.0.0.1' : host, port);
  names = buildSandboxServerOriginAndHosts(host, actualPort, publicHost);
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
    ...names,
    port: actualPort,
    close: async () => {
      await Promise.all(servers.map(closeHttpServer));
    },
  };
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
