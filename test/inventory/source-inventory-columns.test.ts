import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sourceInventoryColumns } from '../../src/inventory/source-inventory-columns.ts';

it('the guide lists every column', () => {
  const guide = readFileSync(new URL('../../docs/guides/inventory.md', import.meta.url), 'utf8');
  const rows = sourceInventoryColumns.map(({ name, description }) => `| \`${name}\` | ${description} |`);
  expect(rows.filter((row) => !guide.includes(row))).toEqual([]);
});
