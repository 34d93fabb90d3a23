import { type RunExternalProgram, runExternalProgram } from '../../platform/external-program.ts';
import { listFolder } from '../../platform/files.ts';
import type { Environment } from '../../platform/host.ts';
import type { SchemaCopier } from '../schema-copier.ts';
import { copySchemaBetween } from './catalog-schema-copier.ts';
import { closestPgDump, findPgDumpPrograms } from './find-pg-dump.ts';
import { canConnectByPgDump, copySchemaByPgDump } from './pg-dump-schema-copier.ts';
import { withSchemaSession } from './schema-session.ts';

export interface SchemaCopierOptions {
  readonly env: Environment;
  /** Where to look for pg_dump instead of everywhere. */
  readonly folder?: string | undefined;
  readonly run?: RunExternalProgram;
}

/** By pg_dump when one is here that is as new as the source, else by reading the catalogue. */
export function chooseSchemaCopier({ env, folder, run = runExternalProgram }: SchemaCopierOptions): SchemaCopier {
  return (from, to, signal) =>
    withSchemaSession(from, signal, (source) =>
      withSchemaSession(to, signal, async (target) => {
        const dumps = canConnectByPgDump(from)
          ? await findPgDumpPrograms({ env, folder, namesIn: listNamesOrNone, run }, signal)
          : [];
        const dump = closestPgDump(dumps, source.version);
        if (dump === undefined) return await copySchemaBetween(from, source, target);
        return await copySchemaByPgDump(dump, from, { source, target }, { env, run }, signal);
      }),
    );
}

/** A folder that cannot be read holds nothing for us. */
function listNamesOrNone(folder: string): readonly string[] {
  try {
    return listFolder(folder);
  } catch {
    return [];
  }
}
