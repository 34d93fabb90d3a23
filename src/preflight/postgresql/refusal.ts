import { ownCodes } from '../../postgresql/failure.ts';
import { fail, type Method, type Outcome, skip } from '../finding.ts';
import type { Entry, Ground } from './ground.ts';

/** Both ways to migrate: what keeps us out keeps them both out. */
export const bothMethods: readonly Method[] = ['continuous', 'dump'];

/** The checks of the way in, in the order a login meets them. Each refusal belongs to exactly one. */
export type Gate =
  | 'tcp-connect'
  | 'tls-negotiate'
  | 'tls-required'
  | 'auth-hba'
  | 'auth-password'
  | 'db-exists'
  | 'not-postgres'
  | 'pooler-detected';

type Refused = Exclude<Entry, { kind: 'entered' }>;

/**
 * Judges one gate: `refused` words its own refusal; what was refused at an earlier gate skips it, and past it it passes.
 * A refusal nobody has words for is told by `tcp-connect`, so that none is lost.
 */
export function judgeGate(
  ground: Ground,
  gate: Gate,
  passed: () => Outcome,
  refused: (why: Refused) => Outcome,
): Outcome {
  const { entry } = ground;
  if (entry.kind === 'entered') return passed();
  const at = gateOf(ground, entry);
  if (at === gate) return refused(entry);
  return order.indexOf(at) < order.indexOf(gate) ? skip(`${at} comes first: ${entry.message}`) : passed();
}

export function blocked(why: Refused, more: Omit<Outcome, 'status' | 'blocks' | 'observed'>): Outcome {
  return fail(bothMethods, why.message, more);
}

const order: readonly Gate[] = [
  'tcp-connect',
  'tls-negotiate',
  'tls-required',
  'auth-hba',
  'auth-password',
  'db-exists',
  'not-postgres',
  'pooler-detected',
];

function gateOf({ tls }: Ground, entry: Refused): Gate {
  if (entry.kind === 'unreachable') return 'tcp-connect';
  if (entry.pooler !== undefined) return 'pooler-detected';
  const { code } = entry;
  if (code === '28000') return tls.plaintext === 'refused' ? 'tls-required' : 'auth-hba';
  return gates[code] ?? 'tcp-connect';
}

const gates: Readonly<Record<string, Gate>> = {
  [ownCodes.noTls]: 'tls-negotiate',
  [ownCodes.tls]: 'tls-negotiate',
  [ownCodes.authentication]: 'auth-hba',
  '28P01': 'auth-password',
  [ownCodes.noPassword]: 'auth-password',
  '3D000': 'db-exists',
  // Permission denied for the database, and one that takes no connections.
  '42501': 'db-exists',
  '55000': 'db-exists',
  [ownCodes.protocol]: 'not-postgres',
};
