import { type ProgramRunner, runProgram } from '../../../platform/external-program.ts';
import { listFolder } from '../../../platform/files.ts';
import type { ProcessEnvironment } from '../../../platform/host.ts';
import { copyByCatalogs } from './catalog.ts';
import { canUsePgDump, choosePgDump, copyByPgDump, findPgDumps } from './pg-dump.ts';
import { withSide } from './session.ts';
import { type SchemaCopier, withWriter } from './target.ts';

interface SchemaCopierOptions {
  readonly env: ProcessEnvironment;
  /** Folder that contains pg_dump; absent: all usual folders are searched. */
  readonly folder?: string | undefined;
  readonly run?: ProgramRunner;
}

/** Uses pg_dump if an installed version can read the source, else the system catalogs. */
export function schemaCopier({ env, folder, run = runProgram }: SchemaCopierOptions): SchemaCopier {
  return (from, to, signal, superuser) =>
    withSide(from, signal, (source) =>
      withSide(to, signal, async (target) => {
        const programs = canUsePgDump(from)
          ? await findPgDumps({ env, folder, namesIn: listNamesOrNone, run }, signal)
          : [];
        const program = choosePgDump(programs, source.version);
        return await withWriter({ source, target }, superuser, signal, (writer) =>
          program === undefined
            ? copyByCatalogs(from, { source, target }, writer)
            : copyByPgDump(program, from, { source, target, writer }, { env, run }, signal),
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
