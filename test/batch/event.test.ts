import { expect, it } from 'vitest';
import { decodeEvent, encodeEvent, timeText } from '../../src/batch/event.ts';
import { batchOf } from './ground.ts';

it('every time has its text, the beginning of the epoch as well', () => {
  const texts = ['1970-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '1970-01-01T00:00:00.000Z'];
  expect(texts.map((text) => timeText(Date.parse(text)))).toEqual(texts);
});

it('what is not known is left out of a line', () => {
  const sending = { event: 'sending', at: timeText(0), group: 1, names: ['a'] } as const;
  expect(encodeEvent({ ...sending, server_date: undefined })).toBe(encodeEvent(sending));
});

it.each([
  { size: 's', image: 'i', region: 'nyc3', extra: {} },
  { size: 's', image: 7, extra: { tags: ['web'] } },
])('a batch is resumed with the attributes it was recorded with: %j', (attributes) => {
  expect(decodeEvent(encodeEvent(batchOf(['a'], { attributes })).trim())).toHaveProperty('attributes', attributes);
});
