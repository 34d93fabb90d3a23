import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSandboxStateRecord, extractStateFileRecords } from '../../../src/sandbox/state/state-record-encoding.ts';

const json = fc.json();

describe('frames of a file', () => {
  it('give back every record', () => {
    fc.assert(
      fc.property(fc.array(json), (records) => {
        const bytes = Buffer.concat(records.map(encodeSandboxStateRecord));
        expect(extractStateFileRecords('x', bytes)).toEqual({ records, validBytes: bytes.length, tornBytes: 0 });
      }),
    );
  });

  it('truncated anywhere give back the complete records and report the rest as torn, not as damaged', () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 1, maxLength: 4 }), fc.nat(), (records, place) => {
        const frames = records.map(encodeSandboxStateRecord);
        const bytes = Buffer.concat(frames);
        const cut = place % bytes.length;
        let whole = 0;
        let count = 0;
        for (const one of frames) {
          if (whole + one.length > cut) break;
          whole += one.length;
          count += 1;
        }
        const reading = extractStateFileRecords('x', bytes.subarray(0, cut));
        expect(reading).toEqual({ records: records.slice(0, count), validBytes: whole, tornBytes: cut - whole });
      }),
    );
  });

  it('with one flipped bit are damaged at that line, unless the bit makes the last byte zero', () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(7), (records, place, bit) => {
        const bytes = Buffer.concat(records.map(encodeSandboxStateRecord));
        const at = place % bytes.length;
        const line = [...bytes.subarray(0, at)].filter((byte) => byte === 10).length + 1;
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        fc.pre(bytes[at] !== 0);
        expect(() => extractStateFileRecords('x', bytes)).toThrow(
          expect.objectContaining({ reason: 'damaged', detail: expect.stringMatching(`^x, line ${line}:`) }),
        );
      }),
    );
  });
});
