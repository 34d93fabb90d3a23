import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { notJsonError, toApiError } from '../api/api-response.ts';
import { fetchAllItems } from '../api/fetch-all-items.ts';
import type { CommandSpec } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { parseExactJson, parseJson } from '../json.ts';
import { loginHints } from '../session/session-binding.ts';
import { createRateLimitPause } from './rate-limit-pause.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

export const apiCommand: CommandSpec<Context> = {
  description:
    'Sends one request with the session of the profile and prints the body of the answer. Without --output the body is JSON. With --paginate every page of a list is read and the items are printed as one array.',
  arguments: [
    // In lower case they are taken as well.
    { name: 'METHOD', description: methods.join(', '), required: true, completion: methods },
    { name: 'PATH', description: 'path and query, as in /v2/droplets?per_page=5', required: true },
  ],
  options: [
    {
      name: 'data',
      valueName: 'JSON',
      description: 'the body: JSON, @FILE, or - for standard input',
      completion: 'file',
    },
    { name: 'paginate', description: 'follow links.pages.next to the end' },
  ],
  examples: [
    { text: 'One droplet', command: 'cloudctl api GET /v2/droplets/3164444' },
    { text: 'Delete it', command: 'cloudctl api DELETE /v2/droplets/3164444' },
    { text: 'All droplets as one array', command: 'cloudctl api GET /v2/droplets --paginate' },
  ],
  run: async (context, words) => {
    const [typed = '', path = ''] = words.positionals;
    const method = typed.toUpperCase();
    if (!methods.includes(method))
      throw usageError(`method "${typed.slice(0, 20)}" is unknown`, `use one of ${methods.join(', ')}`);
    checkPath(path);
    const body = await bodyOf(context, words.value('data'));
    if (body !== undefined && (method === 'GET' || method === 'HEAD'))
      throw usageError(`cannot send --data with ${method}`, 'leave `--data` out');
    if (words.has('paginate') && method !== 'GET')
      throw usageError(`cannot use --paginate with ${method}`, 'leave `--paginate` out');
    const settings = context.settings();
    const client = await context.api(settings);
    if (words.has('paginate')) {
      const items = await fetchAllItems(client, path, createRateLimitPause(context));
      if (items === undefined) throw usageError('cannot paginate: the answer is no list', 'leave `--paginate` out');
      await context.output.data(items);
      return 0;
    }
    const answer = await client.request({ method, path, ...(body === undefined ? {} : { body }) });
    if (answer.status < 200 || answer.status >= 300)
      throw toApiError(answer, method, path.split('?')[0] ?? path, loginHints(settings, context.host.folders.config));
    if (answer.raw.size === 0) {
      await context.output.note(`${answer.status}, no body.`);
      return 0;
    }
    const json = parseExactJson(answer.text());
    if (!json.ok) throw notJsonError(answer, method, path.split('?')[0] ?? path);
    await context.output.data(json.value);
    return 0;
  },
};

function checkPath(path: string): void {
  if (/^https?:/i.test(path))
    throw usageError(
      'PATH is a whole URL',
      'give the path alone, as in `/v2/droplets`',
      '--base-url and base_url of the profile name the server',
    );
  const plain =
    path.startsWith('/') &&
    !path.startsWith('//') &&
    /^[\x21-\x7e]+$/.test(path) &&
    !path.includes('\\') &&
    !path.includes('#');
  if (!plain)
    throw usageError(
      'PATH is not a path of visible ASCII that begins with one "/"',
      'write it as in `"/v2/droplets?per_page=5"`',
    );
}

async function bodyOf(context: Context, data: string | undefined): Promise<string | undefined> {
  if (data === undefined) return undefined;
  const text =
    data === '-' ? await readAll(context.host.stdin) : data.startsWith('@') ? readBodyFile(data.slice(1)) : data;
  if (!parseJson(text).ok) throw usageError('--data is not JSON', 'write it as in `--data \'{"name":"web-01"}\'`');
  return text;
}

function readBodyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(
      `could not read --data: ${error instanceof Error ? error.message : String(error)}`,
      'name a file that can be read, as in `--data @body.json`',
    );
  }
}
