import { appendFileSync } from 'node:fs';

/** How much is done: `npm run test:faults` asks for all of it, the normal suite for a part. */
export const amount = {
  processes: numberOf('CLOUDCTL_TEST_PROCESSES', 10),
  rounds: numberOf('CLOUDCTL_TEST_ROUNDS', 1),
  kills: numberOf('CLOUDCTL_TEST_KILLS', 12),
  refreshes: numberOf('CLOUDCTL_TEST_REFRESHES', 3),
};

/** Faults of each matrix: `npm run test:faults` asks for `all`. */
const faults = process.env.CLOUDCTL_TEST_FAULTS ?? '16';

/** A part that is spread over the whole matrix, and is the same in each run. */
export function faultSample<T>(all: readonly T[]): readonly T[] {
  if (faults === 'all') return all;
  const step = Math.max(1, all.length / Number(faults));
  return all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
}

export interface Figures {
  readonly what: 'rounds' | 'kills' | 'widths' | 'faults';
  readonly store: string;
  readonly values: Readonly<Record<string, number | readonly number[]>>;
}

/** For scripts/faults.mjs, which prints them. */
export function tell(figures: Figures): void {
  const path = process.env.CLOUDCTL_TEST_FIGURES;
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(figures)}\n`);
}

function numberOf(variable: string, usual: number): number {
  return Number(process.env[variable] ?? usual);
}
