import { CliError } from '../base/errors.ts';
import { moveCommand } from '../platform/files.ts';
import type { DamagedConfigError } from './config-file.ts';

/** Creates the error for a damaged config.json, with line and column. */
export async function damagedConfig(damage: DamagedConfigError): Promise<CliError> {
  if (damage.what !== undefined)
    return new CliError('config_invalid', `config file ${damage.what}`, {
      detail: damage.path,
      hint: `move it away: ${moveCommand(damage.path)}`,
    });
  if (damage.reason !== undefined && damage.at.length === 0) return damagedError(damage, damage.reason, '1:1');
  const { findNodeAtLocation, parseTree, printParseErrorCode } = await import('jsonc-parser');
  // A byte order mark at the start of config.json is not an error and does not count as a column.
  const text = damage.text.replace(/^\uFEFF/, '');
  const errors: { error: number; offset: number; length: number }[] = [];
  const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const first = errors[0];
  const node = tree === undefined ? undefined : findNodeAtLocation(tree, [...damage.at]);
  const offset = damage.reason === undefined ? (first?.offset ?? 0) : (node?.offset ?? 0);
  const reason =
    damage.reason ??
    (first === undefined ? 'it is not JSON' : `it is not JSON (${splitCamelCase(printParseErrorCode(first.error))})`);
  return damagedError(damage, reason, lineAndColumn(text, offset));
}

function damagedError({ path }: DamagedConfigError, reason: string, position: string): CliError {
  return new CliError('config_invalid', `config file is damaged: ${reason}`, {
    detail: `${path}:${position}`,
    hint: 'correct this line of config.json',
  });
}

function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Converts a camel-case name to words: `CommaExpected` becomes "comma expected". */
function splitCamelCase(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
