import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { byteClass, createByteValidator } from '../../../../../src/db/preflight/postgresql/deep/rows.ts';

test.each([
  ['SQL_ASCII', 'any bytes'],
  ['LATIN1', 'any bytes'],
  ['LATIN10', 'any bytes'],
  ['WIN1252', 'any bytes'],
  ['KOI8R', 'any bytes'],
  ['ISO_8859_8', 'any bytes'],
  ['UTF8', 'multibyte'],
  ['EUC_JP', 'multibyte'],
  ['MULE_INTERNAL', 'unknown'],
  ['toString', 'unknown'],
])('%s has %s', (encoding, kind) => {
  expect(byteClass(encoding)).toBe(kind);
  expect(createByteValidator(encoding) === undefined).toBe(kind !== 'multibyte');
});

/** Whether the parts are valid, and the fields that are not. */
function scanned(encoding: string, ...parts: readonly Uint8Array[]): readonly number[] {
  const validator = createByteValidator(encoding)!;
  const fields = new Set<number>();
  for (const part of parts) validator.scan(part, (field) => fields.add(field));
  return [...fields];
}

const line = (hex: string) => Buffer.from(`${hex}0a`, 'hex');

test.each([
  ['UTF8', 'c3a9', true],
  ['UTF8', 'efbfbf', true],
  ['UTF8', 'f48fbfbf', true],
  ['UTF8', 'c080', false],
  ['UTF8', 'e080af', false],
  ['UTF8', 'eda080', false],
  ['UTF8', 'f4908080', false],
  ['UTF8', 'c3', false],
  ['UTF8', '80', false],
  ['EUC_JP', '8ea1a4a28fb0a1', true],
  ['EUC_JP', '8ee0', false],
  ['EUC_JP', '8fa1', false],
  ['EUC_JP', 'a4', false],
  ['EUC_JP', 'ffa1', false],
  ['EUC_JIS_2004', '8fb0a1', true],
  ['EUC_KR', 'b0a1', true],
  ['EUC_KR', '8ea1', false],
  ['EUC_CN', 'b0a1', true],
  ['EUC_TW', '8ea1b0a1', true],
  ['EUC_TW', '8ea8b0a1', false],
  ['EUC_TW', '8eb0a1', false],
])('%s: the bytes %s are valid: %s', (encoding, hex, isValid) => {
  const row = line(hex);
  expect(createByteValidator(encoding)?.isValid(row)).toBe(isValid);
  expect(scanned(encoding, row).length === 0).toBe(isValid);
  // One byte at a time.
  expect(scanned(encoding, ...Array.from(row, (byte) => Buffer.from([byte]))).length === 0).toBe(isValid);
});

test('random bytes are valid UTF-8 for both ways of reading, or for none', () => {
  for (let round = 0; round < 3000; round += 1) {
    const bytes = randomBytes(3).map((byte) => (round % 2 === 0 ? byte | 0x80 : byte));
    const row = Buffer.concat([bytes.filter((byte) => byte !== 0x0a), Buffer.from('\n')]);
    expect(scanned('UTF8', row).length === 0, row.toString('hex')).toBe(isUtf8(row));
  }
});

test('the fields with invalid bytes are numbered', () => {
  expect(scanned('UTF8', Buffer.from('a\tb\xff\té\t\xc3\n', 'latin1'))).toEqual([1, 2, 3]);
});
