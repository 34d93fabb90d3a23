import type { DoctorFinding } from './doctor-finding.ts';

/** What binding one address and port gave: `free`, or the system's error code. */
export type PortProbeResult = 'free' | string;

/** A callback URL as far as its port is concerned. */
export interface CallbackPort {
  readonly href: string;
  readonly port: number;
  /** Literal addresses a login listens on. */
  readonly addresses: readonly string[];
}

/** Both loopback families of one port: a program on the family that the URL does not name may still catch a browser. */
export const loopbackAddresses = ['127.0.0.1', '::1'] as const;

/** A finding for each registered callback URL: a login needs one whose own addresses are all free (login.md rules 2 and 3). */
export function checkPorts(
  callbacks: readonly CallbackPort[],
  bindings: ReadonlyMap<string, PortProbeResult>,
): readonly DoctorFinding[] {
  const seen = callbacks.map((callback) => ({ callback, trouble: unavailableAddress(callback, bindings) }));
  const usable = seen.some(({ trouble }) => trouble === undefined);
  return seen.map(({ callback, trouble }): DoctorFinding => {
    const id = `port-${callback.port}`;
    const observed = `${callback.href}: ${callback.port === 0 ? 'any free port' : portFacts(callback, bindings)}`;
    if (trouble === undefined) return { id, status: 'ok', observed };
    return {
      id,
      status: usable ? 'warning' : 'failed',
      observed,
      hint: usable
        ? 'another callback URL of the profile is free and will be used'
        : `end the program that has it (\`ss -ltnp 'sport = :${callback.port}'\`), or register another one: \`cloudctl auth setup --callback-url http://127.0.0.1:PORT/callback\``,
    };
  });
}

export function portProbeKey(address: string, port: number): string {
  return `${address} ${port}`;
}

/** The first address that a login needs and cannot have; the second address of `localhost` may be missing. */
function unavailableAddress(
  { port, addresses }: CallbackPort,
  bindings: ReadonlyMap<string, PortProbeResult>,
): string | undefined {
  if (port === 0) return undefined;
  return addresses.find((address, at) => {
    const binding = bindings.get(portProbeKey(address, port)) ?? 'free';
    return binding !== 'free' && !(at > 0 && absentAddressCodes.includes(binding));
  });
}

function portFacts({ port, addresses }: CallbackPort, bindings: ReadonlyMap<string, PortProbeResult>): string {
  return [...new Set([...addresses, ...loopbackAddresses])]
    .map((address) => `${address} is ${portProbeText(bindings.get(portProbeKey(address, port)) ?? 'free')}`)
    .join(', ');
}

function portProbeText(binding: PortProbeResult): string {
  if (binding === 'free') return 'free';
  if (binding === 'EADDRINUSE') return 'in use';
  if (binding === 'EACCES') return 'reserved by the system';
  return absentAddressCodes.includes(binding) ? 'not on this machine' : `refused (${binding})`;
}

const absentAddressCodes: readonly string[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];
