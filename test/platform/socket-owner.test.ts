import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { peerUser } from '../../src/platform/socket-owner.ts';

const header = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const row = (local: string, remote: string, state: string, uid: number, inode: number) =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 ${inode} 1 0000000000000000 20 4 30 10 -1`;
const addresses = { localAddress: '127.0.0.1', localPort: 8765, remoteAddress: '127.0.0.1', remotePort: 40000 };
const here = '0100007F:223D';
const there = '0100007F:9C40';
const mapped = (key: string) => `0000000000000000FFFF0000${key}`;

function ownerIn(tables: { readonly tcp?: string[]; readonly tcp6?: string[] }, of = addresses) {
  return peerUser(of, (name) => [header, ...(tables[name] ?? [])].join('\n'));
}

describe('the owner of the other end', () => {
  it.each([
    ['is its user', { tcp: [row(here, there, '01', 0, 5), row(there, here, '01', 1001, 6)] }, 1001],
    [
      'is found with an IPv6 socket',
      { tcp: [row(here, there, '01', 0, 5)], tcp6: [row(mapped(there), mapped(here), '01', 1002, 6)] },
      1002,
    ],
    [
      'is not told by a closed socket, which has the user 0',
      { tcp: [row(here, there, '08', 0, 5), row(there, here, '05', 0, 0)] },
      undefined,
    ],
    ['is refused when only this end is listed', { tcp: [row(here, there, '01', 0, 5)] }, 'refused'],
    ['is not told where no connection is listed', { tcp: [row(there, '0100007F:0016', '01', 0, 5)] }, undefined],
  ])('%s', (_, tables, expected) => expect(ownerIn(tables)).toBe(expected));

  it('of addresses outside this machine is not told', () => {
    expect(ownerIn({}, { ...addresses, remoteAddress: 'fe80::1' })).toBeUndefined();
  });

  it.runIf(process.platform === 'linux').each(['127.0.0.1', '::1'])(
    'is this user, for a real connection to %s',
    async (host) => {
      const server = createServer();
      await once(server.listen(0, host), 'listening');
      const accepted: Promise<Socket[]> = once(server, 'connection');
      const address = server.address();
      const client = connect({ host, port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
      const [socket] = await accepted;
      expect(peerUser(socket ?? {})).toBe(process.getuid?.());
      client.destroy();
      socket?.destroy();
      server.close();
    },
  );
});
