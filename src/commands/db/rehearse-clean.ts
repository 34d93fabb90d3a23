import { cleanUp } from '../../engine/clean-up.ts';
import type { EnginePorts } from '../../engine/job.ts';
import type { Journal, JournalEntry } from '../../engine/journal.ts';
import { watchName } from '../../engine/postgresql/names.ts';
import { readServer } from '../../engine/postgresql/servers.ts';
import { within } from '../../engine/postgresql/session.ts';
import { reasonOf } from '../../engine/words.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import type { RedisSource } from '../../redis/source.ts';
import { type Cleared, dropDatabases, dropRoles } from '../../rehearsal/clearing.ts';
import { makeBare } from '../../rehearsal/occupants.ts';
import type { RecordFile } from '../../rehearsal/record.ts';
import type { Left } from '../../rehearsal/report.ts';

export interface Doors<S> {
  readonly source: S;
  readonly target: S;
}

/** The engine's journal, kept in the record of the rehearsal: without passwords, which whoever removes things has typed again. */
export function journalOn(file: RecordFile, doors: Doors<PostgresSource> | Doors<RedisSource>): Journal {
  return {
    intend(entry) {
      if (entry.engine === 'postgresql') {
        const added = { name: entry.name, database: entry.source.dbname };
        file.change({ objects: [...file.current().objects, added] });
      } else {
        // A password the target had for another source is nothing for a file.
        const hidden = entry.settings.masterauth === undefined ? {} : { masterauth: '' };
        const filled = [{ name: 'keys', extensions: [], schemas: [], publications: [] }];
        file.change({
          objects: [{ name: entry.name, database: '' }],
          filled,
          settings: { ...entry.settings, ...hidden },
        });
      }
    },
    cleared: (name) => file.change({ objects: file.current().objects.filter((one) => one.name !== name) }),
    pending: () => {
      const { objects, system, settings = {} } = file.current();
      return objects.map(({ name, database }): JournalEntry => {
        const { source, target } = doors;
        return 'dbname' in source && 'dbname' in target
          ? {
              engine: 'postgresql',
              name,
              source: { ...source, dbname: database },
              target: { ...target, dbname: database },
              targetSystem: system,
            }
          : {
              engine: 'redis',
              name,
              source: { ...source, db: undefined },
              target: { ...target, db: undefined },
              settings,
            };
      });
    },
  };
}

/**
 * Removes everything a rehearsal of PostgreSQL has made, in whatever state it is. What could not be removed stays in the
 * record, which is gone when there is none.
 * @param keep what was made on the target stays, and is no longer ours
 */
export async function cleanPostgresql(
  file: RecordFile,
  { target }: Doors<PostgresSource>,
  ports: EnginePorts,
  keep: boolean,
): Promise<readonly Left[]> {
  const left: Left[] = [...(await cleanUp(ports))];
  if (!keep) left.push(...(await clearTarget(file, target, ports)));
  if (left.length === 0) file.remove();
  return left;
}

async function clearTarget(file: RecordFile, target: PostgresSource, ports: EnginePorts): Promise<readonly Left[]> {
  const { databases, roles, filled, system } = file.current();
  if (databases.length + roles.length + filled.length === 0) return [];
  try {
    return await within(target, ports, { name: watchName }, async (session) => {
      const server = await readServer(session);
      if (server.system !== system) throw new Error('it is another server than the one that was filled');
      const left: Left[] = [];
      for (const one of filled) {
        const rest = await bare(one, target, ports);
        if (rest.length > 0) left.push(...rest);
        else file.change({ filled: file.current().filled.filter(({ name }) => name !== one.name) });
      }
      const gone = await dropDatabases(session, databases, server.version);
      file.change({ databases: without(databases, gone) });
      const free = await dropRoles(session, roles);
      file.change({ roles: without(roles, free) });
      return [...left, ...gone.left, ...free.left];
    });
  } catch (error) {
    const reason = reasonOf(error, target.password);
    const each = (what: string, statement: string) => (name: string) => ({
      side: 'target' as const,
      database: '',
      object: `${what} ${name}`,
      statement: `${statement} ${quoteIdentifier(name)}`,
      reason,
    });
    return [
      ...file.current().databases.map(({ name }) => each('database', 'DROP DATABASE')(name)),
      ...file.current().roles.map(({ name }) => each('role', 'DROP ROLE')(name)),
    ];
  }
}

async function bare(
  { name, ...before }: Parameters<typeof makeBare>[1] & { readonly name: string },
  target: PostgresSource,
  ports: EnginePorts,
): Promise<readonly Left[]> {
  const told = (object: string, reason: string): Left => ({
    side: 'target',
    database: name,
    object,
    statement: `DROP ${object} CASCADE`,
    reason,
  });
  try {
    const rest = await within({ ...target, dbname: name }, ports, { name: watchName }, (session) =>
      makeBare(session, before),
    );
    return rest.map((object) => told(object, 'it could not be dropped'));
  } catch (error) {
    return [told('what was copied into it', reasonOf(error, target.password))];
  }
}

function without<T extends { readonly name: string }>(all: readonly T[], { gone }: Cleared): readonly T[] {
  return all.filter(({ name }) => !gone.includes(name));
}
