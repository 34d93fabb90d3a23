import { resolveProfileSettings } from '../../src/config/settings.ts';
import { inventoryOptionSpecs } from '../../src/inventory/options.ts';
import { type ParsedSourceInventory, parseSourceInventory } from '../../src/inventory/parse-source-inventory.ts';
import type { SourceInventoryEntryInput } from '../../src/inventory/source-inventory-entry.ts';
import { argsFrom } from '../fixtures/command-io.ts';

/** Parses an inventory as a command with these options and variables would. */
export function parse(
  text: string,
  options: Readonly<Record<string, readonly string[]>> = {},
  more: Partial<SourceInventoryEntryInput> = {},
): ParsedSourceInventory {
  return parseSourceInventory(Buffer.from(text), entryInput(options, more));
}

export function entryInput(
  options: Readonly<Record<string, readonly string[]>> = {},
  more: Partial<SourceInventoryEntryInput> = {},
): SourceInventoryEntryInput {
  return {
    args: argsFrom(options, [], inventoryOptionSpecs),
    settings: resolveProfileSettings({
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
