import type { BuildOptions } from 'esbuild';

/** The program into `dist`; its libraries and their types too, unless it is for tests. Resolves with the metafile. */
export function build(options?: {
  /** The folder of the project. */
  readonly from?: string;
  readonly dist?: string;
  readonly metafile?: string;
  readonly forTests?: boolean;
}): Promise<object>;

/** The program into `dist-test/`, with the hook that interrupts it at a point (src/auth/session/run.ts). */
export function buildForTests(): Promise<object>;

/** The options of esbuild for every file of the program. */
export function common(from: string, forTests: boolean): BuildOptions;

export const metafilePath: string;
