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
    'Sends one request with the session of the profile and prints the response body, as JSON unless --output says otherwise. With --paginate, reads every page of a list and prints the items as one array.',
  arguments: [
    // Lower case is accepted too, so these are suggestions and not choices.
    { name: 'METHOD', description: methods.join(', '), required: true, completion: methods },
    { name: 'PATH', description: 'path and query, such as /v2/droplets?per_page=5', required: true },
  ],
  options: [
    {
      name: 'data',
      valueName: 'JSON',
      description: 'request body: JSON, @FILE, or - for standard input',
      completion: 'file',
    },
    { name: 'paginate', description: 'read every page and print the items as one array' },
  ],
  examples: [
    { text: 'Show one droplet', command: 'cloudctl api GET /v2/droplets/3164444' },
    { text: 'Delete a droplet', command: 'cloudctl api DELETE /v2/droplets/3164444' },
    { text: 'Print all droplets as one array', command: 'cloudctl api GET /v2/droplets --paginate' },
  ],
  run: async (context, args) => {
    const [typed = '', path = ''] = args.positionals;
    const method = typed.toUpperCase();
    if (!methods.includes(method))
      throw usageError(`unknown method "${typed.slice(0, 20)}"`, `use one of ${methods.join(', ')}`);
    checkPath(path);
    const body = await bodyOf(context, args.value('data'));
    if (body !== undefined && (method === 'GET' || method === 'HEAD'))
      throw usageError(`cannot send --data with ${method}`, 'remove `--data`');
    if (args.has('paginate') && method !== 'GET')
      throw usageError(`cannot use --paginate with ${method}`, 'remove `--paginate`');
    const settings = context.settings();
    const client = await context.api(settings);
    if (args.has('paginate')) {
      const items = await fetchAllItems(client, path, createRateLimitPause(context));
      if (items === undefined)
        throw usageError(`cannot paginate ${path.split('?')[0]}: the response is not a list`, 'remove `--paginate`');
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
    if (!json.ok) throw notJsonError(answer, method, path.split('?')[0] ?? path, json);
    await context.output.data(json.value);
    return 0;
  },
};

function checkPath(path: string): void {
  if (/^https?:/i.test(path))
    throw usageError(
      'PATH is a URL, not a path',
      'pass the path alone, such as `/v2/droplets`',
      'the server is set by --base-url or by base_url of the profile',
    );
  const plain =
    path.startsWith('/') &&
    !path.startsWith('//') &&
    /^[\x21-\x7e]+$/.test(path) &&
    !path.includes('\\') &&
    !path.includes('#');
  if (!plain)
    throw usageError(
      'PATH is not visible ASCII text that begins with one "/"',
      'use a path such as `"/v2/droplets?per_page=5"`',
    );
}

async function bodyOf(context: Context, data: string | undefined): Promise<string | undefined> {
  if (data === undefined) return undefined;
  const text =
    data === '-' ? await readAll(context.host.stdin) : data.startsWith('@') ? readBodyFile(data.slice(1)) : data;
  const json = parseJson(text);
  if (!json.ok) throw usageError(`--data ${json.reason}`, 'pass JSON, such as `--data \'{"name":"web-01"}\'`');
  return text;
}

function readBodyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(
      `could not read --data: ${error instanceof Error ? error.message : String(error)}`,
      'pass a readable file, such as `--data @body.json`',
    );
  }
}
