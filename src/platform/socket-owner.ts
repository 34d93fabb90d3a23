import { readFileSync } from 'node:fs';

/** The addresses of a TCP connection as seen by the process that accepted it. */
interface TcpConnectionAddresses {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/**
 * The user ID that owns the other end of a connection within this machine. The result is `refused` if the system lists this end
 * of the connection but not the other one. The result is undefined if the other end is already closed or the system lists no
 * sockets (only Linux does, in https://docs.kernel.org/networking/proc_net_tcp.html). @param readTable reads `/proc/net/tcp` or
 * `/proc/net/tcp6`; a test replaces it
 */
export function peerUser(
  addresses: TcpConnectionAddresses,
  readTable: (name: 'tcp' | 'tcp6') => string = readSocketTable,
): number | 'refused' | undefined {
  const here = endpointKey(addresses.localAddress, addresses.localPort);
  const there = endpointKey(addresses.remoteAddress, addresses.remotePort);
  if (here === undefined || there === undefined) return undefined;
  let isListed = false;
  // The Linux kernel does not lock the socket table while it is read, so one reading may miss a row.
  for (let attempt = 0; attempt < 3; attempt++) {
    for (const name of ['tcp', 'tcp6'] as const) {
      for (const row of readTable(name).split('\n').slice(1)) {
        const [, local = '', remote = '', state, , , , uid, , inode] = row.trim().split(/\s+/);
        if (socketKey(local) === here && socketKey(remote) === there) isListed = true;
        if (socketKey(local) !== there || socketKey(remote) !== here) continue;
        // In the socket table a socket without a process has inode 0 and user 0.
        return inode === '0' || state === closedState ? undefined : Number(uid);
      }
    }
    if (!isListed) return undefined;
  }
  return 'refused';
}

/** TIME_WAIT */
const closedState = '06';

function readSocketTable(name: 'tcp' | 'tcp6'): string {
  try {
    return readFileSync(`/proc/net/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Formats address and port for comparison, such as `0100007F:1F90`: groups of four bytes in the byte order of the machine. */
function socketKey(field: string): string {
  const [address = '', port = ''] = field.split(':');
  const bytes = Buffer.from(address, 'hex');
  if (isLittleEndian) bytes.swap32();
  return `${shortAddress(bytes)}:${Number.parseInt(port, 16)}`;
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function endpointKey(address: string | undefined, port: number | undefined): string | undefined {
  if (address === undefined || port === undefined) return undefined;
  const v4 = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/i.exec(address);
  if (v4 !== null) return `${shortAddress(Buffer.from(v4.slice(1).map(Number)))}:${port}`;
  // Of the IPv6 addresses, only ::1 certainly belongs to this machine.
  return address === '::1' ? `${shortAddress(Buffer.from([...new Uint8Array(15), 1]))}:${port}` : undefined;
}

/** An IPv4 address in IPv6 form (::ffff:0:0/96) is the same as the IPv4 address. */
function shortAddress(bytes: Buffer): string {
  const isMapped = bytes.length === 16 && bytes.subarray(0, 12).toString('hex') === '00000000000000000000ffff';
  return (isMapped ? bytes.subarray(12) : bytes).toString('hex');
}
