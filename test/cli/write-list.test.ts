import { expect, it } from 'vitest';
import { type RowPages, streamCsv, streamNdjson, tableRows, writeJson, writeYaml } from '../../src/cli/write-list.ts';

interface Row {
  readonly id: number;
}

const picked = [{ name: 'ID', value: ({ id }: Row) => id }];

/** Two pages, and what was written before the second was asked for. */
function listing(written: string[], seen: { first?: string }) {
  async function* pages(): RowPages<Row> {
    yield { rows: () => [{ id: 1 }, { id: 2 }] };
    seen.first = written.join('');
    yield { rows: () => [{ id: 3 }] };
  }
  const write = async (data: string | Uint8Array): Promise<void> =>
    void written.push(Buffer.from(data).toString('utf8'));
  return { pages: pages(), options: { picked, wanted: undefined, header: true, write } };
}

it('ndjson prints a page in one piece before it asks for the next', async () => {
  const [written, seen]: [string[], { first?: string }] = [[], {}];
  const { pages, options } = listing(written, seen);
  await streamNdjson(pages, options);
  expect(written).toEqual(['{"id":1}\n{"id":2}\n', '{"id":3}\n']);
  expect(seen.first).toBe(written[0]);
});

it('ndjson of picked columns is made from the rows', async () => {
  const written: string[] = [];
  const { pages, options } = listing(written, {});
  await streamNdjson(pages, { ...options, wanted: ['id'] });
  expect(written.join('')).toBe('{"ID":1}\n{"ID":2}\n{"ID":3}\n');
});

it('csv prints its header first and each page as it comes', async () => {
  const [written, seen]: [string[], { first?: string }] = [[], {}];
  const { pages, options } = listing(written, seen);
  await streamCsv(pages, options, (cells) => `${cells.join()}\n`);
  expect([seen.first, written.join('')]).toEqual(['ID\n1\n2\n', 'ID\n1\n2\n3\n']);
});

it.each([
  [writeJson, '[\n  {\n    "id": 1\n  },\n  {\n    "id": 2\n  },\n  {\n    "id": 3\n  }\n]\n'],
  [writeYaml, '- id: 1\n- id: 2\n- id: 3\n'],
])('%o prints one document, and nothing before its end', async (hold, document) => {
  const [written, seen]: [string[], { first?: string }] = [[], {}];
  const { pages, options } = listing(written, seen);
  await hold(pages, options);
  expect([seen.first, written.join('')]).toEqual(['', document]);
});

it.each([writeJson, writeYaml])('%o of nothing is an empty array', async (hold) => {
  const written: string[] = [];
  async function* none(): RowPages<Row> {
    yield { rows: () => [] };
  }
  await hold(none(), listing(written, {}).options);
  expect(written.join('')).toBe('[]\n');
});

it('a table keeps cells and no rows', async () => {
  const { pages, options } = listing([], {});
  expect(await tableRows(pages, options)).toEqual([[1], [2], [3]]);
});
