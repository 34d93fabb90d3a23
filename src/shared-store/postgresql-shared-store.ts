import { tryParseJson } from '../base/json.ts';
import { clientSideDatabaseErrorCodes, DatabaseError } from '../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../postgresql/endpoint.ts';
import { quoteLiteral } from '../postgresql/quote.ts';
import { buildReadWriteTransactionSql } from '../postgresql/search-path-safe-sql.ts';
import { createReconnectingCall, sharedStoreTimeLimits } from './create-reconnecting-call.ts';
import { decodeSharedLogEntry, decodeSharedSessionOperationResult } from './decode-shared-session.ts';
import {
  listSharedOperationArguments,
  type SharedSessionEntryKey,
  type SharedSessionOperation,
  type SharedSessionStore,
} from './shared-session.ts';

/**
 * The shared store in PostgreSQL. Every operation is one call of a function of the schema `cloudctl_share`, in one message that
 * is one transaction, so it works behind pgbouncer in transaction mode. No transaction is open between two operations.
 */
export function createPostgresqlSharedStore(
  source: PostgresqlEndpoint,
  key: SharedSessionEntryKey,
): SharedSessionStore {
  const { share, profile } = key;
  const calls = createReconnectingCall<PostgresqlSession>({
    connect: (limit) => connectPostgresql(source, { dbname: source.dbname, limit, ...connectOptions }),
    end: (session) => session.end(),
  });
  const call = (name: string, args: readonly (string | number | boolean)[]): Promise<unknown> =>
    calls.run(async (session) => {
      const statement = `SELECT cloudctl_share.${name}(${[share, profile, ...args].map(literal).join(', ')}) AS result`;
      const sets = await session.query(
        buildReadWriteTransactionSql([statement], transactionSettings),
        sharedStoreTimeLimits.statementMs,
      );
      return decodeResult(sets.flat()[0]?.result);
    });
  return {
    location: `PostgreSQL ${source.host}:${source.port}/${source.dbname}`,
    async run(operation) {
      const result = await call(functionNames[operation.op], listSharedOperationArguments(operation));
      const snapshot = decodeSharedSessionOperationResult(result);
      if (snapshot === undefined) throw malformedReply();
      return snapshot;
    },
    async readLog(limit) {
      const entries = await call('read_log', [limit]);
      if (!Array.isArray(entries)) throw malformedReply();
      return entries.flatMap((entry) => decodeSharedLogEntry(entry) ?? []);
    },
    close: calls.close,
  };
}

const connectOptions = { applicationName: 'cloudctl-share', withoutStartupSettings: true };

/** A commit must be on the disk of the server, even if the role or the database has the setting synchronous_commit = off. */
const transactionSettings = {
  statement_timeout: `${sharedStoreTimeLimits.statementMs}`,
  synchronous_commit: 'on',
};

/** The function of the schema `cloudctl_share` for each operation. */
const functionNames: Readonly<Record<SharedSessionOperation['op'], string>> = {
  read: 'read_session',
  claim: 'claim_session',
  renew: 'renew_claim',
  release: 'release_claim',
  commit: 'commit_session',
  refuse: 'refuse_session',
  reseal: 'reseal_session',
};

function literal(value: string | number | boolean): string {
  return typeof value === 'string' ? quoteLiteral(value) : String(value);
}

function decodeResult(text: string | null | undefined): unknown {
  const json = tryParseJson(text ?? '');
  return json.ok ? json.value : undefined;
}

function malformedReply(): DatabaseError {
  return new DatabaseError(
    clientSideDatabaseErrorCodes.protocol,
    'the reply of the function has an unknown form',
    false,
  );
}
