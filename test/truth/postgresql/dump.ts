import { createEngineDependencies } from '../../../src/engine/engine-dependencies.ts';
import { redactedReason } from '../../../src/engine/migration-error.ts';
import { createMemoryJournal } from '../../../src/engine/migration-journal.ts';
import { createDatabaseProgress } from '../../../src/engine/migration-state.ts';
import { copyDatabaseRows } from '../../../src/engine/postgresql/copy-database-rows.ts';
import { copyRoles } from '../../../src/engine/postgresql/copy-roles.ts';
import { createTargetDatabase, listSourceDatabases } from '../../../src/engine/postgresql/database-definition.ts';
import { withEngineSession } from '../../../src/engine/postgresql/engine-session.ts';
import { readServerIdentity, requireCompatibleServers } from '../../../src/engine/postgresql/server-identity.ts';
import { chooseSchemaCopier } from '../../../src/engine/schema/choose-schema-copier.ts';
import { postgresEndpointOf } from '../../engine/engine-servers.ts';
import { all, type MigrationPlan, type MigrationResult } from './migrate.ts';
import { differences } from './rows.ts';

/** Copies a point in time with the parts of the engine, which takes this way by itself only where it may not replicate. */
export async function copy(plan: MigrationPlan): Promise<MigrationResult> {
  const { connection: door, target, databases, ignored, timeLimit: patience } = plan;
  const to = postgresEndpointOf(target);
  const ports = createEngineDependencies({
    now: Date.now,
    journal: createMemoryJournal(),
    schemaCopy: chooseSchemaCopier({ env: process.env }),
  });
  const signal = AbortSignal.timeout(patience * 2);
  const opening = { name: 'truth', signal };
  try {
    const found = await withEngineSession(door, ports, opening, (from) =>
      withEngineSession(to, ports, opening, async (session) => {
        requireCompatibleServers(await readServerIdentity(from), await readServerIdentity(session));
        await copyRoles(from, session, ports.random);
        return listSourceDatabases(from, ignored);
      }),
    );
    const ways = new Map<string, readonly string[]>();
    for (const name of databases) {
      const database = found.find((one) => one.name === name);
      if (database === undefined) ways.set(name, ['it was not found']);
      else ways.set(name, await one(plan, name, () => move(name)));
      async function move(dbname: string): Promise<void> {
        if (database === undefined) return;
        const [source, sink] = [
          { ...door, dbname },
          { ...to, dbname },
        ];
        await withEngineSession(to, ports, opening, (session) => createTargetDatabase(session, database));
        const copied = await ports.schemaCopy(source, sink, signal);
        if (copied.kind === 'refused') throw new Error(`the schema cannot be copied: ${copied.objects.join(', ')}`);
        await copyDatabaseRows(
          { source, target: sink, deps: ports, signal, name: 'truth' },
          createDatabaseProgress(dbname),
        );
      }
    }
    return { problems: ways, remarks: [] };
  } catch (error) {
    return all(databases, [redactedReason(error, door.password)]);
  }
}

/** The source is left alone meanwhile, so that all rows must be there afterwards. */
async function one(plan: MigrationPlan, name: string, move: () => Promise<void>): Promise<readonly string[]> {
  try {
    await move();
    return await differences(plan.source, plan.target, name, []);
  } catch (error) {
    return [redactedReason(error, plan.connection.password)];
  }
}
