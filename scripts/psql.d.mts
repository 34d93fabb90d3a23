import type { PostgresServer } from './postgres.mjs';

export interface ScriptSection {
  readonly title: string;
  readonly isOptional: boolean;
  readonly lines: readonly string[];
}

export function sectionsOf(script: string): readonly ScriptSection[];
export function uncommented(section: ScriptSection): ScriptSection;
export function manualStepsOf(section: ScriptSection): readonly string[];
export function runSql(
  server: Pick<PostgresServer, 'folder' | 'port'>,
  lines: readonly string[],
  as?: { readonly username?: string; readonly database?: string },
): Promise<void>;
