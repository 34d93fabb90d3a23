import { type Droplet, decodeDroplet, isTellable } from '../api/droplets.ts';
import { nextPath, totalOf } from '../api/page.ts';
import { type ApiAnswer, problem } from '../api/problem.ts';
import { CliError } from '../errors.ts';
import { isRecord, parseJson } from '../json.ts';
import type { Line } from './line.ts';

export interface DropletPage {
  readonly droplets: readonly Droplet[];
  /** `meta.total` */
  readonly total: number | undefined;
  /** Path and query of the page after it. */
  readonly next: string | undefined;
}

export const pageSize = 200;

/** Every page of a list of droplets as the server gives them, paced; what they are worth is for the reader to judge. */
export async function* readPages(line: Line, path: string, signal: AbortSignal): AsyncGenerator<DropletPage> {
  const visited = new Set<string>();
  let at: string | undefined = `${path}${path.includes('?') ? '&' : '?'}page=1&per_page=${pageSize}`;
  // A page that comes again leads nowhere.
  while (at !== undefined && !visited.has(at)) {
    visited.add(at);
    const page: DropletPage = await readPage(line, at, signal);
    yield page;
    at = page.next;
  }
}

export async function readPage(line: Line, path: string, signal: AbortSignal): Promise<DropletPage> {
  let answer: ApiAnswer;
  do {
    await line.turn(signal);
    answer = await line.request({ method: 'GET', path, until: signal });
    // The line waits until the server allows another.
  } while (answer.status === 429);
  if (answer.status !== 200) throw problem(answer, 'GET', '/v2/droplets', line.wayIn);
  const json = parseJson(answer.text());
  const body = json.ok && isRecord(json.value) ? json.value : undefined;
  const items = body?.droplets;
  const droplets = Array.isArray(items) ? items.map(tellable) : undefined;
  if (body === undefined || droplets === undefined || !droplets.every((droplet) => droplet !== undefined))
    throw new CliError('api_error', 'could not look up droplets: the answer is not understood', {
      detail: `status ${answer.status}, ${answer.contentType()}`,
      hint: 'check base_url with `cloudctl config list`',
      status: answer.status,
      requestId: answer.requestId(),
    });
  return { droplets, total: totalOf(body), next: nextPath(line.baseOrigin, body.links, path) };
}

function tellable(json: unknown): Droplet | undefined {
  const droplet = decodeDroplet(json);
  return droplet === undefined || !isTellable(droplet.id) ? undefined : droplet;
}
