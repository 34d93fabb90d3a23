import { appendFileSync } from 'node:fs';
import type { FleetStoreKind } from './fleet-store.ts';

const isFull = process.env.CLOUDCTL_TEST_FLEET_FAULTS !== undefined;

/** How much is done: `npm run test:fleet` asks for all of it, the normal suite for a part. */
export const fleetAmount = {
  isFull,
  machines: numberOf('CLOUDCTL_TEST_MACHINES', 3),
  expiries: numberOf('CLOUDCTL_TEST_EXPIRIES', 2),
  kills: numberOf('CLOUDCTL_TEST_FLEET_KILLS', 3),
  /** Rounds of each fault that kills no process of a machine. */
  faults: numberOf('CLOUDCTL_TEST_FLEET_FAULTS', 1),
  /** Fleets that are independent of each other and run at the same time. */
  fleets: numberOf('CLOUDCTL_TEST_FLEETS', 3),
};

/** The normal suite tests some faults with one store only, because most of them do not depend on the engine. */
export function fleetStoreKinds(
  all: readonly FleetStoreKind[],
  usual: readonly FleetStoreKind[],
): readonly FleetStoreKind[] {
  return isFull ? all : usual;
}

/** For scripts/fleet.mjs, which prints them. */
export function reportFleetFigures(what: string, store: string, values: Readonly<Record<string, number>>): void {
  const path = process.env.CLOUDCTL_TEST_FIGURES;
  if (path !== undefined) appendFileSync(path, `${JSON.stringify({ what, store, values })}\n`);
}

function numberOf(variable: string, usual: number): number {
  return Number(process.env[variable] ?? usual);
}
