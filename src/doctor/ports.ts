import type { DoctorFinding } from './finding.ts';

/** What binding one address and port gave: `free`, or the system's error code. */
export type Binding = 'free' | string;

/** A callback URL as far as its port is concerned. */
export interface Callback {
  readonly href: string;
  readonly port: number;
  /** Literal addresses a login listens on. */
  readonly addresses: readonly string[];
}

/** Both loopback families of one port: a program on the family that the URL does not name may still catch a browser. */
export const families = ['127.0.0.1', '::1'] as const;

/** A finding for each registered callback URL: a login needs one whose own addresses are all free (login.md rules 2 and 3). */
export function judgePorts(
  callbacks: readonly Callback[],
  bindings: ReadonlyMap<string, Binding>,
): readonly DoctorFinding[] {
  const seen = callbacks.map((callback) => ({ callback, trouble: troubleOf(callback, bindings) }));
  const usable = seen.some(({ trouble }) => trouble === undefined);
  return seen.map(({ callback, trouble }): DoctorFinding => {
    const id = `port-${callback.port}`;
    const observed = `${callback.href}: ${callback.port === 0 ? 'any free port' : factsOf(callback, bindings)}`;
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

export function bindingKey(address: string, port: number): string {
  return `${address} ${port}`;
}

/** The first address that a login needs and cannot have; the second address of `localhost` may be missing. */
function troubleOf({ port, addresses }: Callback, bindings: ReadonlyMap<string, Binding>): string | undefined {
  if (port === 0) return undefined;
  return addresses.find((address, at) => {
    const binding = bindings.get(bindingKey(address, port)) ?? 'free';
    return binding !== 'free' && !(at > 0 && missing.includes(binding));
  });
}

function factsOf({ port, addresses }: Callback, bindings: ReadonlyMap<string, Binding>): string {
  return [...new Set([...addresses, ...families])]
    .map((address) => `${address} is ${words(bindings.get(bindingKey(address, port)) ?? 'free')}`)
    .join(', ');
}

function words(binding: Binding): string {
  if (binding === 'free') return 'free';
  if (binding === 'EADDRINUSE') return 'in use';
  if (binding === 'EACCES') return 'reserved by the system';
  return missing.includes(binding) ? 'not on this machine' : `refused (${binding})`;
}

const missing: readonly string[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];
