import { resolveSettings } from '../../../src/config/settings.ts';
import type { EntryInput } from '../../../src/db/inventory/entry.ts';
import { inventoryOptionSpecs } from '../../../src/db/inventory/options.ts';
import { type ParsedSources, parseSources } from '../../../src/db/inventory/sources-file.ts';
import { argsFrom } from '../../fixtures/command-io.ts';

/** Parses an inventory as a command with these options and variables would. */
export function parse(
  text: string,
  options: Readonly<Record<string, readonly string[]>> = {},
  more: Partial<EntryInput> = {},
): ParsedSources {
  return parseSources(Buffer.from(text), entryInput(options, more));
}

export function entryInput(
  options: Readonly<Record<string, readonly string[]>> = {},
  more: Partial<EntryInput> = {},
): EntryInput {
  return {
    args: argsFrom(options, [], inventoryOptionSpecs),
    settings: resolveSettings({
      env: {},
      config: { path: '', current: undefined, profiles: new Map(), raw: {} },
      profile: undefined,
    }),
    env: {},
    readText: () => undefined,
    now: 0,
    passwordRefusal: undefined,
    commandRefusal: undefined,
    ...more,
  };
}
