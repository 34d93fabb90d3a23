import { type ExternalProgramRunner, runExternalProgram } from '../../../platform/external-program.ts';
import { listFolder } from '../../../platform/files.ts';
import type { ProcessEnvironment } from '../../../platform/host.ts';
import type { SchemaCopier } from '../schema-copier.ts';
import { copySchemaBetween } from './catalog-schema-copier.ts';
import { findOldestUsablePgDump, findPgDumpPrograms } from './find-pg-dump.ts';
import { canConnectByPgDump, copySchemaByPgDump } from './pg-dump-schema-copier.ts';
import { withSchemaCopySession } from './schema-session.ts';
import { withTargetSchemaWriter } from './target-schema-creator.ts';

export interface SchemaCopierOptions {
  readonly env: ProcessEnvironment;
  /** Folder that contains pg_dump; absent: all usual folders are searched. */
  readonly folder?: string | undefined;
  readonly run?: ExternalProgramRunner;
}

/** Uses pg_dump if an installed version can read the source, else the system catalogs. */
export function chooseSchemaCopier({ env, folder, run = runExternalProgram }: SchemaCopierOptions): SchemaCopier {
  return (from, to, signal, superuser) =>
    withSchemaCopySession(from, signal, (source) =>
      withSchemaCopySession(to, signal, async (target) => {
        const programs = canConnectByPgDump(from)
          ? await findPgDumpPrograms({ env, folder, namesIn: listNamesOrNone, run }, signal)
          : [];
        const program = findOldestUsablePgDump(programs, source.version);
        return await withTargetSchemaWriter({ source, target }, superuser, signal, (writer) =>
          program === undefined
            ? copySchemaBetween(from, { source, target }, writer)
            : copySchemaByPgDump(program, from, { source, target, writer }, { env, run }, signal),
        );
      }),
    );
}

/** A folder that cannot be read counts as empty. */
function listNamesOrNone(folder: string): readonly string[] {
  try {
    return listFolder(folder);
  } catch {
    return [];
  }
}
