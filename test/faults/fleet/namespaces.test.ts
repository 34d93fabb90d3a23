import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ContainerNetwork, createContainerNetwork, lacksNamespaces } from '../../fixtures/network-namespaces.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { fleetAmount, fleetStoreKinds, reportFleetFigures } from './fleet-figures.ts';
import { startStopped } from './fleet-machine.ts';
import { beginRound, listActions, settleRound } from './fleet-round.ts';
import { describeFleetStores, type FleetStore } from './fleet-store.ts';

const forwarder = fileURLToPath(new URL('./forward-ports.mjs', import.meta.url));

interface NamespaceFleet {
  readonly fleet: Fleet;
  readonly network: ContainerNetwork;
  readonly names: readonly string[];
}

/** Each machine has a network namespace of its own, in which the servers are reached over a bridge. */
async function createNamespaceFleet(store: FleetStore, machines: number): Promise<NamespaceFleet> {
  const names = Array.from({ length: machines }, (_, at) => `m${at}`);
  const network = createContainerNetwork('172.31.94', names);
  onTestFinished(() => network.remove());
  const fleet = await createFleet({ store, machines, under: (at) => network.inContainer(names[at]!) });
  const { auth_url, base_url } = fleet.sandbox.ready;
  const ports = [auth_url, base_url, store.url].map((url) => Number(new URL(url).port));
  for (const port of ports) await acceptFrom(network.gateway, port);
  await Promise.all(names.map((name) => forward(network, name, ports)));
  return { fleet, network, names };
}

/** The servers listen on 127.0.0.1 only. */
async function acceptFrom(gateway: string, port: number): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  server.listen(port, gateway);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

async function forward(network: ContainerNetwork, name: string, ports: readonly number[]): Promise<void> {
  const [file, ...words] = network.inContainer(name);
  const args = [...words, process.execPath, forwarder, network.gateway, ...ports.map(String)];
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
}

describe.skipIf(lacksNamespaces())('machines in network namespaces', () => {
  describeFleetStores(
    'with a shared session',
    (store) => {
      test(`${fleetAmount.machines} machines meet an expired token: one refresh each time, and every command succeeds`, {
        timeout: 3_600_000,
      }, async () => {
        const { fleet } = await createNamespaceFleet(store(), fleetAmount.machines);
        const expiries = Math.ceil(fleetAmount.expiries / 2);
        for (let at = 0; at < expiries; at += 1) {
          const round = await beginRound(fleet);
          expect(await settleRound(fleet, round, { window: 'free' })).toBe('usable');
        }
        expect(fleet.refreshes()).toHaveLength(expiries);
        reportFleetFigures('expiries in namespaces', store().kind, { machines: fleetAmount.machines, expiries });
      });

      // The lease of the machine without a network must end.
      test.runIf(fleetAmount.isFull).for(['K2-claimed', 'K8-sealed'])(
        'a machine that loses its network at %s for longer than its lease: no session is lost',
        { timeout: 600_000 },
        async (point) => {
          const { fleet, network, names } = await createNamespaceFleet(store(), 3);
          const round = await beginRound(fleet);
          const running = await startStopped(fleet.machines[0]!, point, listActions);
          network.setConnected(names[0]!, false);
          running.kill('SIGCONT');
          const stopped = round.end(running.ended, 'commit');
          const others = fleet.machines.slice(1).map((machine) => round.end(machine.run(listActions), 'refusal'));
          await after(25_000);
          network.setConnected(names[0]!, true);
          expect(await Promise.all(others)).toEqual(['usable', 'usable']);
          // Without a network it cannot send its request, and with a grant it is usable.
          const cut = point === 'K2-claimed' ? ['usable', 'unreachable'] : ['usable'];
          expect(cut).toContain(await stopped);
          expect(await settleRound(fleet, round, { window: 'free' })).toBe('usable');
          const values = { [await stopped]: 1, 'usable others': 2, lost: 0 };
          reportFleetFigures(`network lost at ${point}`, store().kind, values);
        },
      );
    },
    fleetStoreKinds(['postgresql', 'redis'], ['postgresql']),
  );
});
