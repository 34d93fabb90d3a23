import type { Major } from '../../../scripts/postgres.mjs';
import { quoteIdentifier, quoteLiteral } from '../../../src/postgresql/quote.ts';
import { startTarget } from '../../db/engine/servers.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { databasesOf, isShared, type PostgresCase, plainLoginSetup } from './case.ts';

export interface LeasedServers {
  readonly source: Postgres;
  readonly target: Postgres;
  release(): Promise<void>;
}

/** Servers for cases that run in parallel. A source whose server itself has the defect serves one case only. */
export interface ServerPool {
  acquire(one: PostgresCase): Promise<LeasedServers>;
  close(): Promise<void>;
}

export function openServerPool(): ServerPool {
  const idle = new Map<string, Postgres[]>();
  const all: Postgres[] = [];
  const take = async (key: string, start: () => Promise<Postgres>): Promise<Postgres> => {
    const found = idle.get(key)?.pop();
    if (found !== undefined) return found;
    const started = await start();
    all.push(started);
    return started;
  };
  const put = (key: string, server: Postgres) => idle.set(key, [...(idle.get(key) ?? []), server]);
  return {
    async acquire(one) {
      const { from = 15, to = 17 } = one;
      const ownSource = !isShared(one);
      const { withoutZones } = one;
      const ownTarget = one.target !== undefined || one.plainTarget === true || withoutZones !== undefined;
      const [source, target] = await Promise.all([
        ownSource ? startSource(one, from) : take(`source ${from}`, () => startSource({}, from)),
        ownTarget
          ? startTarget({
              version: to,
              direct: true,
              settings: one.target ?? {},
              setup: one.plainTarget === true ? plainLoginSetup(to) : [],
              ...(withoutZones ? { withoutZones } : {}),
            })
          : take(`target ${to}`, () => startTarget({ version: to, direct: true })),
      ]);
      return {
        source,
        target,
        async release() {
          await Promise.all([
            ownTarget ? target.stop() : dropCaseDatabases(target, one).then(() => put(`target ${to}`, target)),
            ownSource ? source.stop() : dropCaseDatabases(source, one).then(() => put(`source ${from}`, source)),
          ]);
        },
      };
    },
    close: async () => void (await Promise.all(all.map((server) => server.stop()))),
  };
}

function startSource({ settings, hba, tls }: Partial<PostgresCase>, version: Major): Promise<Postgres> {
  return startPostgres({
    version,
    // Host rules and addresses are what some of the cases are about, and the engine is changed (migrate.ts).
    direct: true,
    settings: { ...ready, max_prepared_transactions: 5, wal_sender_timeout: '60s', ...settings },
    ...(hba === undefined ? {} : { hba }),
    ...(tls === undefined ? {} : { tls }),
  });
}

/** Drops the databases of a case, with their subscriptions and slots. */
export async function dropCaseDatabases(server: Postgres, one: Pick<PostgresCase, 'databases'>): Promise<void> {
  for (const name of databasesOf(one)) {
    const found = await server.query(`SELECT 1 FROM pg_database WHERE datname = ${quoteLiteral(name)}`);
    if (found.length === 0) continue;
    await server.query(`ALTER DATABASE ${quoteIdentifier(name)} ALLOW_CONNECTIONS true`);
    const subscriptions = await server.query(
      'SELECT subname FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())',
      name,
    );
    for (const { subname } of subscriptions) {
      const quoted = quoteIdentifier(String(subname));
      await server.query(`ALTER SUBSCRIPTION ${quoted} DISABLE`, name);
      await server.query(`ALTER SUBSCRIPTION ${quoted} SET (slot_name = NONE)`, name);
      await server.query(`DROP SUBSCRIPTION ${quoted}`, name);
    }
    const slots = `FROM pg_replication_slots WHERE database = ${quoteLiteral(name)}`;
    await server.query(`SELECT pg_terminate_backend(active_pid) ${slots} AND active`);
    await server.query(`SELECT pg_drop_replication_slot(slot_name) ${slots} AND NOT active`);
    await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${quoteLiteral(name)}`);
    await server.query(`DROP DATABASE ${quoteIdentifier(name)}`);
  }
}
