import type { CommandIo } from '../../cli/command-io.ts';
import { isWellFormedTargetVersion } from './option-specs.ts';
import type { PreflightOptions } from './preflight-options.ts';

/**
 * Prompts for the version of the target, because most checks with the status `unknown` depend on it. Without a
 * terminal, and with `--yes`, there is no prompt and the version remains unknown.
 */
export async function promptForMissingTargetVersion(
  { prompts, globals }: Pick<CommandIo, 'prompts' | 'globals'>,
  engine: 'postgresql' | 'redis',
  options: PreflightOptions,
): Promise<PreflightOptions> {
  if (options.targetVersion !== undefined || !prompts.interactive || globals.has('yes')) return options;
  const example = engine === 'redis' ? 'valkey-8' : '17';
  const typed = await prompts.ask({
    name: 'target version',
    option: '--target-version',
    message: `Version of the target cluster, such as ${example} (leave empty if unknown)`,
    validate: (text) =>
      text.trim() === '' || isWellFormedTargetVersion(text.trim(), engine) || `Write the version as in ${example}.`,
  });
  return typed.trim() === '' ? options : { ...options, targetVersion: typed.trim() };
}
