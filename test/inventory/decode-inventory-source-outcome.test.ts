import { expect, it, test } from 'vitest';
import {
  decodeInventorySourceOutcome,
  decodeSourceInventoryCellsFromJson,
} from '../../src/inventory/decode-inventory-source-outcome.ts';
import { sampleOutcomes } from './outcomes.ts';

it('an outcome is the same after it was stored', () => {
  for (const one of sampleOutcomes()) expect(decodeInventorySourceOutcome(JSON.stringify(one))).toEqual(one);
});

test.each(['', 'null', '{}', '[]', '{"name":"a"}', '{"name":1,"url":2}'])('%j is no outcome', (text) => {
  expect(decodeInventorySourceOutcome(text)).toBeUndefined();
});

it('cells are texts of known columns, without a command and control characters', () => {
  expect(decodeSourceInventoryCellsFromJson('{"url":"postgres://u@h/d","name":"a"}')).toEqual({
    url: 'postgres://u@h/d',
    name: 'a',
  });
  for (const cells of [{ password_command: '["x"]' }, { url: 'a\u001b[2J' }, { url: 1 }, { colour: 'red' }, 'x'])
    expect(decodeSourceInventoryCellsFromJson(JSON.stringify(cells))).toBeUndefined();
});
