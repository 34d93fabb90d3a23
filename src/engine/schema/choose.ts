import { namesIn } from '../../platform/files.ts';
import type { Environment } from '../../platform/host.ts';
import { type RunProgram, runProgram } from '../../platform/program.ts';
import type { SchemaCopy } from '../schema-copy.ts';
import { copyBetween } from './catalogue-copy.ts';
import { closest, findPgDumps } from './pg-dump.ts';
import { canEnter, copyByDump } from './pg-dump-copy.ts';
import { withSession } from './session.ts';

export interface SchemaPorts {
  readonly env: Environment;
  /** Where to look for pg_dump instead of everywhere. */
  readonly folder?: string | undefined;
  readonly run?: RunProgram;
}

/** By pg_dump when one is here that is as new as the source, else by reading the catalogue. */
export function chooseSchemaCopy({ env, folder, run = runProgram }: SchemaPorts): SchemaCopy {
  return (from, to, signal) =>
    withSession(from, signal, (source) =>
      withSession(to, signal, async (target) => {
        const dumps = canEnter(from) ? await findPgDumps({ env, folder, namesIn: listed, run }, signal) : [];
        const dump = closest(dumps, source.version);
        if (dump === undefined) return await copyBetween(from, source, target);
        return await copyByDump(dump, from, { source, target }, { env, run }, signal);
      }),
    );
}

/** A folder that cannot be read holds nothing for us. */
function listed(folder: string): readonly string[] {
  try {
    return namesIn(folder);
  } catch {
    return [];
  }
}
