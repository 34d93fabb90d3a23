import { appendFileSync } from 'node:fs';

/** How much is done: `npm run test:fleet` asks for all of it, the normal suite for a part. */
export const fleetAmount = {
  machines: numberOf('CLOUDCTL_TEST_MACHINES', 3),
  expiries: numberOf('CLOUDCTL_TEST_EXPIRIES', 2),
  kills: numberOf('CLOUDCTL_TEST_FLEET_KILLS', 3),
};

/** For scripts/fleet.mjs, which prints them. */
export function reportFleetFigures(what: string, store: string, values: Readonly<Record<string, number>>): void {
  const path = process.env.CLOUDCTL_TEST_FIGURES;
  if (path !== undefined) appendFileSync(path, `${JSON.stringify({ what, store, values })}\n`);
}

function numberOf(variable: string, usual: number): number {
  return Number(process.env[variable] ?? usual);
}
