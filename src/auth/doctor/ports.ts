import { createServer } from 'node:net';
import type { Finding } from './finding.ts';

/** The result of binding one address and port: `free`, or the error code of the operating system. */
export type PortProbe = 'free' | string;

/** The addresses and the port that a login with this callback URL listens on. */
export interface ListenAddresses {
  readonly href: string;
  readonly port: number;
  /** The IP addresses that a login listens on. */
  readonly addresses: readonly string[];
}

/**
 * Both loopback addresses are checked, because a browser may reach another program on the address that the callback URL does
 * not name.
 */
const loopbackAddresses = ['127.0.0.1', '::1'] as const;

/** Creates one doctor finding for each callback URL. A login needs one callback URL whose addresses are all free. */
export function checkPorts(
  callbacks: readonly ListenAddresses[],
  bindings: ReadonlyMap<string, PortProbe>,
): readonly Finding[] {
  const seen = callbacks.map((callback) => ({ callback, trouble: unavailableAddress(callback, bindings) }));
  const usable = seen.some(({ trouble }) => trouble === undefined);
  return seen.map(({ callback, trouble }): Finding => {
    const id = `port-${callback.port}`;
    const observed = `${callback.href}: ${callback.port === 0 ? 'any free port' : portFacts(callback, bindings)}`;
    if (trouble === undefined) return { id, status: 'ok', observed };
    return {
      id,
      status: usable ? 'warning' : 'failed',
      observed,
      hint: usable
        ? 'no action is needed: another callback URL of the profile is free'
        : `stop the program that uses the port (\`ss -ltnp 'sport = :${callback.port}'\`), or register another port: \`cloudctl auth setup --callback-url http://127.0.0.1:PORT/callback\``,
    };
  });
}

export function portKey(address: string, port: number): string {
  return `${address} ${port}`;
}

/**
 * The first address that a login needs but cannot bind; for `localhost`, the second address is skipped if this machine does
 * not have it.
 */
function unavailableAddress(
  { port, addresses }: ListenAddresses,
  bindings: ReadonlyMap<string, PortProbe>,
): string | undefined {
  if (port === 0) return undefined;
  return addresses.find((address, at) => {
    const binding = bindings.get(portKey(address, port)) ?? 'free';
    return binding !== 'free' && !(at > 0 && absentAddressCodes.includes(binding));
  });
}

function portFacts({ port, addresses }: ListenAddresses, bindings: ReadonlyMap<string, PortProbe>): string {
  return [...new Set([...addresses, ...loopbackAddresses])]
    .map((address) => `${address} is ${portProbeText(bindings.get(portKey(address, port)) ?? 'free')}`)
    .join(', ');
}

function portProbeText(binding: PortProbe): string {
  if (binding === 'free') return 'free';
  if (binding === 'EADDRINUSE') return 'in use';
  if (binding === 'EACCES') return 'reserved by the system';
  return absentAddressCodes.includes(binding) ? 'not on this machine' : `refused (${binding})`;
}

const absentAddressCodes: readonly string[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/** Binds each callback port on each loopback address and closes the socket again, one after the other. */
export async function probePorts(callbacks: readonly ListenAddresses[]): Promise<ReadonlyMap<string, PortProbe>> {
  const bindings = new Map<string, PortProbe>();
  for (const { port, addresses } of callbacks) {
    for (const address of new Set([...addresses, ...loopbackAddresses])) {
      const key = portKey(address, port);
      if (port !== 0 && !bindings.has(key)) bindings.set(key, await probePort(address, port));
    }
  }
  return bindings;
}

function probePort(host: string, port: number): Promise<PortProbe> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    // The port check uses the same socket options as a login, so that both get the same result.
    server.listen({ host, port, ipv6Only: true, exclusive: true }, () => server.close(() => resolve('free')));
  });
}
