import { resolveProfileSettings } from '../../src/config/settings.ts';
import { sourceOptionSpecs } from '../../src/db-source/read-source.ts';
import type { InventoryEntryInput } from '../../src/inventory/inventory-entry.ts';
import { inventoryOptionSpecs } from '../../src/inventory/inventory-settings.ts';
import { type ParsedInventory, parseInventory } from '../../src/inventory/parse-inventory.ts';
import { preflightOptionSpecs } from '../../src/preflight/option-specs.ts';
import { argsFrom } from '../fixtures/command-io.ts';

/** Parses an inventory as a command with these options and variables would. */
export function parse(
  text: string,
  options: Readonly<Record<string, readonly string[]>> = {},
  more: Partial<InventoryEntryInput> = {},
): ParsedInventory {
  return parseInventory(Buffer.from(text), entryInput(options, more));
}

export function entryInput(
  options: Readonly<Record<string, readonly string[]>> = {},
  more: Partial<InventoryEntryInput> = {},
): InventoryEntryInput {
  return {
    args: argsFrom(options, [], [...inventoryOptionSpecs, ...sourceOptionSpecs, ...preflightOptionSpecs]),
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
