import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sourceInventoryInputColumns } from '../../src/inventory/source-inventory-input-columns.ts';

it('the guide lists every column', () => {
  const guide = readFileSync(new URL('../../docs/guides/inventory.md', import.meta.url), 'utf8');
  const rows = sourceInventoryInputColumns.map(({ name, description }) => `| \`${name}\` | ${description} |`);
  expect(rows.filter((row) => !guide.includes(row))).toEqual([]);
});
