import { connectErrorCodes } from '../../platform/connect-error.ts';
import { type CheckOutcome, fail, type MigrationMethod, skip } from '../finding.ts';
import type { PostgresqlConnectionResult, PostgresqlSourceFacts } from './source-facts.ts';

/** Both ways to migrate: what keeps us out keeps them both out. */
export const bothMethods: readonly MigrationMethod[] = ['continuous', 'dump'];

/** The checks of the way in, in the order a login meets them. Each refusal belongs to exactly one. */
export type LoginStep =
  | 'tcp-connect'
  | 'tls-negotiate'
  | 'tls-required'
  | 'auth-hba'
  | 'auth-password'
  | 'db-exists'
  | 'not-postgres'
  | 'pooler-detected';

export type RefusedEntry = Exclude<PostgresqlConnectionResult, { kind: 'entered' }>;

/**
 * Judges one gate: `refused` words its own refusal; what was refused at an earlier gate skips it, and past it it passes.
 * A refusal nobody has words for is told by `tcp-connect`, so that none is lost.
 */
export function evaluateLoginStep(
  facts: PostgresqlSourceFacts,
  gate: LoginStep,
  passed: () => CheckOutcome,
  refused: (why: RefusedEntry) => CheckOutcome,
): CheckOutcome {
  const { connection } = facts;
  if (connection.kind === 'entered') return passed();
  const at = stepOf(facts, connection);
  if (at === gate) return refused(connection);
  return loginSteps.indexOf(at) < loginSteps.indexOf(gate)
    ? skip(`${at} comes first: ${connection.message}`)
    : passed();
}

export function failLogin(why: RefusedEntry, more: Omit<CheckOutcome, 'status' | 'blocks' | 'observed'>): CheckOutcome {
  return fail(bothMethods, why.message, more);
}

/** Why a server that is there gives no session, by the code of its refusal. */
export function explainRefusal(code: string): { readonly detail: string; readonly fix: { readonly text: string } } {
  switch (code) {
    case '57P03':
      return {
        detail: 'The server is starting, stopping or recovering.',
        fix: { text: 'Wait until it takes connections, and run this again.' },
      };
    case '53300':
      return {
        detail:
          'Every connection the server, the role or the database may have is taken; the migration would be refused as well.',
        fix: {
          text: 'Close idle connections, or raise max_connections (restart), ALTER ROLE … CONNECTION LIMIT or ALTER DATABASE … CONNECTION LIMIT.',
        },
      };
    case connectErrorCodes.timeout:
      return {
        detail:
          'It took the connection and then said nothing: a hung server, a system table that somebody keeps locked (VACUUM FULL, an open transaction), a proxy without a server behind it, or something else than PostgreSQL.',
        fix: { text: 'Check what listens on that port, and look into the log of the server.' },
      };
    case '57P05':
    case '25P03':
    case '25P04':
    case '57014':
      return {
        detail:
          'A timeout of the role, the database or the server is so short that no session gets to its first question.',
        fix: {
          text: 'Lift it for the role: ALTER ROLE … SET idle_session_timeout = 0 (statement_timeout, transaction_timeout, idle_in_transaction_session_timeout likewise); new sessions have it, no restart.',
        },
      };
    case '58P01':
      return {
        detail:
          'A file is missing that every session loads, most often a library in session_preload_libraries of the role, the database or the server.',
        fix: {
          text: 'Install it, or take it out of the setting: ALTER DATABASE … RESET session_preload_libraries, ALTER ROLE … RESET session_preload_libraries.',
        },
      };
    case connectErrorCodes.closed:
      return {
        detail:
          'It took the connection and closed it without a word: a load balancer without a server behind it, or a server that is ending.',
        fix: { text: 'Check what listens on that port, and look into the log of the server.' },
      };
    case 'P0001':
      return {
        detail: 'The password was right, and a trigger of the server on logins raised this.',
        fix: {
          text: 'Let the role past the login event trigger (ALTER EVENT TRIGGER … DISABLE ends it for everybody).',
        },
      };
    case connectErrorCodes.aborted:
      return {
        detail: 'The time for the whole run was over before the server let us in.',
        fix: { text: 'Give more time with --deadline.' },
      };
    default:
      return { detail: `The server ended the login (${code}).`, fix: { text: 'Look into the log of the server.' } };
  }
}

const loginSteps: readonly LoginStep[] = [
  'tcp-connect',
  'tls-negotiate',
  'tls-required',
  'auth-hba',
  'auth-password',
  'db-exists',
  'not-postgres',
  'pooler-detected',
];

function stepOf({ tls }: PostgresqlSourceFacts, connection: RefusedEntry): LoginStep {
  if (connection.kind === 'unreachable') return 'tcp-connect';
  if (connection.pooler !== undefined) return 'pooler-detected';
  const { code } = connection;
  if (code === '28000') return tls.plaintext === 'refused' ? 'tls-required' : 'auth-hba';
  return stepByCode[code] ?? 'tcp-connect';
}

const stepByCode: Readonly<Record<string, LoginStep>> = {
  [connectErrorCodes.noTls]: 'tls-negotiate',
  [connectErrorCodes.tls]: 'tls-negotiate',
  [connectErrorCodes.authentication]: 'auth-hba',
  '28P01': 'auth-password',
  [connectErrorCodes.noPassword]: 'auth-password',
  '3D000': 'db-exists',
  // Permission denied for the database, and one that takes no connections.
  '42501': 'db-exists',
  '55000': 'db-exists',
  [connectErrorCodes.protocol]: 'not-postgres',
};
