import { connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { makeSessionSafe, type SafeSession } from '../../postgresql/search-path-safe-session.ts';

interface PinnedOptions {
  /** application_name of the session. */
  readonly name: string;
  /** Time limit of connecting, in milliseconds. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
  /** Parameters by lower-case name, beside those of every pinned session; names and values are not escaped. */
  readonly settings: Readonly<Record<string, string>>;
  /** The search_path that RESET restores; absent: pg_catalog. */
  readonly resetSearchPath?: string | undefined;
  /** Absent: a connection of its own. */
  readonly connect?: typeof connectPostgresql;
}

/** Opens a session with fixed settings, so that those stored for the role or the database do not apply. */
export async function openPinned(
  endpoint: PostgresqlEndpoint,
  { name, limit, signal, settings, resetSearchPath, connect = connectPostgresql }: PinnedOptions,
): Promise<SafeSession> {
  const { dbname } = endpoint;
  const session = await connect(endpoint, { dbname, limit, applicationName: name, signal, resetSearchPath });
  try {
    const pinned = await makeSessionSafe(session);
    await pinned.query(setQuery({ ...common, ...settings }));
    return pinned;
  } catch (error) {
    await session.end();
    throw error;
  }
}

/** Without time limits of the server, and with values in a form that does not depend on it. */
const common = {
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  xmloption: 'content',
};

/** Skips parameters that the server does not have; pg_settings has names such as `DateStyle` in mixed case. */
function setQuery(settings: Readonly<Record<string, string>>): string {
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  return `
    SELECT set_config(s.name, w.value, false)
    FROM (VALUES ${values.join(', ')}) AS w (name, value)
    JOIN pg_catalog.pg_settings s ON lower(s.name) = w.name`;
}

/** A session that stays open between tasks and is opened again after it was lost. */
export interface Reconnecting<S> {
  /**
   * The open session; undefined if the server cannot be reached at present. Throws on permanent errors, and when an
   * outage lasts longer than the timeout.
   */
  run<T>(task: (session: S) => Promise<T>): Promise<T | undefined>;
  /** The error of the present outage of the server. */
  outage(): unknown;
  close(): Promise<void>;
}

interface ReconnectingOptions<S> {
  readonly open: () => Promise<S>;
  readonly close: (session: S) => Promise<void> | void;
  /** Whether a task that failed with this error may succeed later. */
  readonly isTransient: (error: unknown) => boolean;
  /** Milliseconds of real time that an outage may last. */
  readonly outageTimeout: number;
}

export function createReconnecting<S>(options: ReconnectingOptions<S>): Reconnecting<S> {
  let session: S | undefined;
  let outageSince: number | undefined;
  let outage: unknown;
  const close = async () => {
    const old = session;
    session = undefined;
    if (old !== undefined) await options.close(old);
  };
  return {
    close,
    outage: () => outage,
    async run(task) {
      try {
        session ??= await options.open();
        const result = await task(session);
        outageSince = undefined;
        outage = undefined;
        return result;
      } catch (error) {
        await close();
        outage = error;
        outageSince ??= performance.now();
        if (!options.isTransient(error) || performance.now() - outageSince > options.outageTimeout) throw error;
        return undefined;
      }
    },
  };
}
