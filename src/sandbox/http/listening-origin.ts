import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { closeHttpServer, createHttpServer, type HttpHandler, startListening } from './http-server.ts';

/** One origin: its port, and the server or two that listen there. */
export interface ListeningOrigin {
  readonly port: number;
  readonly origin: string;
  readonly close: () => Promise<void>;
}

export const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/** `localhost` means both loopback addresses, so that no stranger can sit on the one a browser tries first. */
export async function openListeningOrigin(
  host: string,
  port: number,
  answerer: (port: number) => HttpHandler,
  limitOf?: (message: IncomingMessage) => number,
): Promise<ListeningOrigin> {
  let number = port;
  const make = (): Server => createHttpServer((message, body) => answerer(number)(message, body), limitOf);
  const first = make();
  number = await startListening(first, host === 'localhost' ? '127.0.0.1' : host, port);
  const servers = [first];
  if (host === 'localhost') {
    const second = make();
    try {
      await startListening(second, '::1', number);
      servers.push(second);
    } catch (error) {
      if (!isMissingAddress(error)) {
        await closeHttpServer(first);
        throw error;
      }
    }
  }
  return {
    port: number,
    origin: formatOrigin(host, number),
    close: async () => {
      await Promise.all(servers.map(closeHttpServer));
    },
  };
}

/** As clients compare origins: without the port that http has anyway (RFC 6454 §6.2). */
export function formatOrigin(host: string, port: number): string {
  return new URL(`http://${host === '::1' ? '[::1]' : host}:${port}`).origin;
}

/** Ports nobody listens on at the moment, all different; held together until the last is found. */
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

/** A machine without IPv6 has no ::1 for anybody to sit on. */
function isMissingAddress(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';
}
