import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { sqlStateOf } from '../../engine/error.ts';
import type { EngineSystem } from '../../engine/input.ts';
import { engineName } from '../../engine/postgresql/names.ts';
import { singleValue, withSession } from '../../engine/postgresql/session.ts';
import type { RehearsalCreatedObject } from '../rehearsal-record.ts';
import type { RehearsalLeftover } from '../rehearsal-report.ts';
import { currentDatabaseOidQuery, listFirstCopyableObjectsOfOthers } from './existing-objects.ts';

/**
 * The databases that an interrupted rehearsal created and in which others have created objects since then: the name of
 * each with its leftover. Only a target with a superuser has owner roles that tell the objects apart.
 * @param owners names of the roles that own the copied objects
 */
export async function findCreatedDatabasesUsedByOthers(
  databases: readonly RehearsalCreatedObject[],
  owners: readonly string[],
  target: PostgresqlEndpoint,
  ports: EngineSystem,
): Promise<ReadonlyMap<string, RehearsalLeftover>> {
  const used = new Map<string, RehearsalLeftover>();
  for (const { name, oid } of databases) {
    if (oid === undefined) continue;
    try {
      await withSession({ ...target, dbname: name }, ports, { name: engineName }, async (session) => {
        if ((await singleValue(session, currentDatabaseOidQuery)) !== oid) return;
        const objects = await listFirstCopyableObjectsOfOthers(session, owners);
        if (objects.length > 0) used.set(name, toLeftover(name, objects));
      });
    } catch (error) {
      if (sqlStateOf(error) !== databaseDoesNotExist) throw error;
    }
  }
  return used;
}

function toLeftover(name: string, objects: readonly string[]): RehearsalLeftover {
  const statement = `DROP DATABASE ${quoteIdentifier(name)}`;
  const reason = `another user may have created ${objects.slice(0, 3).join(', ')}${objects.length > 3 ? ', …' : ''} in it`;
  return { side: 'target', database: '', object: `database ${name}`, statement, reason };
}

export const databaseDoesNotExist = '3D000';
