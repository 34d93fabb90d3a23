import { memoryJournal } from '../../../src/engine/journal.ts';
import { machinePorts } from '../../../src/engine/ports.ts';
import { createDatabase, listDatabases } from '../../../src/engine/postgresql/databases.ts';
import { dump } from '../../../src/engine/postgresql/dump.ts';
import { copyRoles } from '../../../src/engine/postgresql/roles.ts';
import { judgeServers, readServer } from '../../../src/engine/postgresql/servers.ts';
import { within } from '../../../src/engine/postgresql/session.ts';
import { chooseSchemaCopy } from '../../../src/engine/schema/choose.ts';
import { newProgress } from '../../../src/engine/state.ts';
import { reasonOf } from '../../../src/engine/words.ts';
import { doorOf } from '../../engine/ground.ts';
import { all, type Course, type Plan } from './migrate.ts';
import { differences } from './rows.ts';

/** Copies a point in time with the parts of the engine, which takes this way by itself only where it may not replicate. */
export async function copy(plan: Plan): Promise<Course> {
  const { door, target, databases, ignored, patience } = plan;
  const to = doorOf(target);
  const ports = machinePorts({
    now: Date.now,
    journal: memoryJournal(),
    schemaCopy: chooseSchemaCopy({ env: process.env }),
  });
  const signal = AbortSignal.timeout(patience * 2);
  const opening = { name: 'truth', signal };
  try {
    const found = await within(door, ports, opening, (from) =>
      within(to, ports, opening, async (session) => {
        judgeServers(await readServer(from), await readServer(session));
        await copyRoles(from, session, ports.random);
        return listDatabases(from, ignored);
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
        await within(to, ports, opening, (session) => createDatabase(session, database));
        const copied = await ports.schemaCopy(source, sink, signal);
        if (copied.kind === 'refused') throw new Error(`the schema cannot be copied: ${copied.objects.join(', ')}`);
        await dump({ source, target: sink, ports, signal, name: 'truth' }, newProgress(dbname));
      }
    }
    return { ways, remarks: [] };
  } catch (error) {
    return all(databases, [reasonOf(error, door.password)]);
  }
}

/** The source is left alone meanwhile, so that all rows must be there afterwards. */
async function one(plan: Plan, name: string, move: () => Promise<void>): Promise<readonly string[]> {
  try {
    await move();
    return await differences(plan.source, plan.target, name, []);
  } catch (error) {
    return [reasonOf(error, plan.door.password)];
  }
}
