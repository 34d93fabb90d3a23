import { usageError } from '../base/errors.ts';
import { readFileNamedByUser } from '../cli/read-file-named-by-user.ts';
import type { DbSource } from '../db/source/index.ts';
import { fixScriptPurposes, formatFixScriptSourceLine } from './render-fix-script.ts';

/**
 * Reads a script of an earlier preflight of the same source; undefined if the file does not exist. Throws a CliError (exit 2)
 * for any other file, so that nothing that this program did not write is overwritten.
 * @param option the option that names the file
 */
export function readEarlierFixScript(
  file: string | undefined,
  option: 'fix-sql' | 'undo-sql',
  { source }: DbSource,
): string | undefined {
  const text = file === undefined ? undefined : readFileNamedByUser(file);
  if (file === undefined || text === undefined || text === '') return undefined;
  const [purpose = '', origin = ''] = text.split('\n', 2).map((line) => line.replace(/^(--|#) /, ''));
  const isOwn = purpose === fixScriptPurposes[option] && origin.startsWith(formatFixScriptSourceLine(source));
  if (isOwn) return text;
  throw usageError(
    `cannot overwrite ${file}: it is not a script of an earlier preflight of ${source.host}:${source.port}`,
    `give the name of a new file with \`--${option}\``,
    'the file was not changed',
  );
}

/**
 * Puts the statements that undo the latest fixes before those of earlier ones, so that one run of the script restores the
 * first values. Returns the earlier script unchanged when it has these statements already.
 */
export function mergeUndoScripts(earlier: string | undefined, latest: string): string {
  if (earlier === undefined) return latest;
  return earlier.includes(bodyOf(latest)) ? earlier : `${latest}\n${separator(latest)}\n${earlier}`;
}

/** The fix or undo script without its first lines, which contain the time of the preflight. */
function bodyOf(script: string): string {
  return script.slice(script.indexOf('\n\n'));
}

function separator(script: string): string {
  return `${script.startsWith('#') ? '#' : '--'} Below: the undo of the fixes of an earlier preflight. It runs after the statements above.`;
}
