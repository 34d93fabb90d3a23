import { quoteShellArg } from '../../../base/text.ts';
import { ConnectError } from '../../../platform/network-errors.ts';
import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { searchPathStatement, singleLineSql } from '../../../postgresql/psql-script.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import { sourceUrlText } from '../../source/index.ts';
import type { Fence } from '../pair.ts';
import { withReadSession } from './sequences.ts';
import { queryCatalogRows } from './tables.ts';

type Session = Pick<PostgresqlSession, 'query'>;

/** A database of the source with its stored default_transaction_read_only. */
interface Stored {
  readonly name: string;
  readonly owner: string;
  /** Whether the role of the session may change its settings. */
  readonly isOwned: boolean;
  /** `on` and `off` stand for every spelling; undefined: nothing is stored. */
  readonly value: 'on' | 'off' | undefined;
}

/** How to keep sessions from writing to these databases of the source, and how to undo it. */
export async function readFence(
  session: Session,
  source: PostgresqlEndpoint,
  databases: readonly string[],
): Promise<Fence> {
  const names = databases.map((one) => quoteLiteral(one)).join(', ');
  const stored = await readStored(session, `d.datname IN (${names})`);
  const end = `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE datname IN (${names}) AND backend_type = 'client backend' AND application_name !~ '^cloudctl-' AND pid <> pg_catalog.pg_backend_pid()`;
  const endings = singleLineSql(end);
  const other = stored.find(({ isOwned }) => !isOwned)?.owner;
  return {
    commands: [
      psql(source, [
        ...stored.flatMap(({ name }) => alter(name, 'SET default_transaction_read_only = on')),
        // A session that is open keeps the value that it began with.
        ...(endings === undefined ? [] : [endings]),
      ]),
    ],
    undo: [undoCommand(source, stored)],
    limits: `${other === undefined ? '' : `only the owner ${other} or a superuser may run it; `}a session that sets default_transaction_read_only itself, or whose role stores it, still writes`,
  };
}

/** Databases of the source in which every new session is read-only, and the command that ends it. */
export interface Lock {
  readonly databases: readonly string[];
  readonly undo: string;
}

/**
 * Reads whether databases of the source are read-only, with a session of its own, because the sessions of a run that ends are
 * closed; undefined if none is, or if the source does not answer within ten seconds.
 */
export async function readLock(
  source: PostgresqlEndpoint,
  { ignoreDbs, signal }: { readonly ignoreDbs: readonly string[]; readonly signal: AbortSignal },
): Promise<Lock | undefined> {
  try {
    return await withReadSession(source, source.dbname, signal, async (session) => {
      const stored = await readStored(session, 'd.datallowconn AND NOT d.datistemplate');
      const locked = stored.filter(({ name, value }) => value === 'on' && !ignoreDbs.includes(name));
      if (locked.length === 0) return undefined;
      return { databases: locked.map(({ name }) => name), undo: undoCommand(source, locked) };
    });
  } catch (error) {
    if (error instanceof ConnectError || error instanceof QueryError) return undefined;
    throw error;
  }
}

async function readStored(session: Session, condition: string): Promise<readonly Stored[]> {
  const rows = await queryCatalogRows(
    session,
    `SELECT d.datname, pg_has_role(d.datdba, 'USAGE') AS owned, pg_get_userbyid(d.datdba) AS owner,
       (SELECT split_part(c, '=', 2) FROM pg_db_role_setting s, unnest(s.setconfig) c
         WHERE s.setdatabase = d.oid AND s.setrole = 0 AND c LIKE 'default_transaction_read_only=%') AS stored
     FROM pg_database d WHERE ${condition} ORDER BY d.datname`,
  );
  return rows.map(({ datname, owned, owner, stored }) => ({
    name: datname ?? '',
    owner: owner ?? '',
    isOwned: owned === 't',
    value: stored == null ? undefined : /^(on|t|true|y|yes|1)$/i.test(stored) ? 'on' : 'off',
  }));
}

/** A value `on` is the fence itself, which an earlier run has printed: nothing else is known of the value before it. */
function undoCommand(source: PostgresqlEndpoint, stored: readonly Stored[]): string {
  return psql(
    source,
    stored.flatMap(({ name, value }) =>
      alter(name, value === 'off' ? 'SET default_transaction_read_only = off' : 'RESET default_transaction_read_only'),
    ),
  );
}

function alter(database: string, change: string): readonly string[] {
  const text = singleLineSql(`ALTER DATABASE ${quoteIdentifier(database)} ${change}`);
  return text === undefined ? [] : [text];
}

function psql(source: PostgresqlEndpoint, statements: readonly string[]): string {
  return [
    'psql -X -v ON_ERROR_STOP=1',
    quoteShellArg(sourceUrlText({ engine: 'postgresql', source })),
    ...[writable, searchPathStatement, ...statements].flatMap((one) => ['-c', quoteShellArg(one)]),
  ].join(' ');
}

/** A session in a database with a fence begins read-only. */
const writable = 'SET default_transaction_read_only = off';
