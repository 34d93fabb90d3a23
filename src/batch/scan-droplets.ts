import { type ApiResponse, toApiError } from '../api/api-response.ts';
import { type Droplet, decodeDroplet, isExactId } from '../api/droplets.ts';
import { listTotal, nextPagePath } from '../api/list-page.ts';
import { CliError } from '../errors.ts';
import { isRecord, parseJson } from '../json.ts';
import type { SendLane } from './send-lane.ts';

export interface DropletPage {
  readonly droplets: readonly Droplet[];
  /** `meta.total` */
  readonly total: number | undefined;
  /** Path and query of the page after it. */
  readonly next: string | undefined;
}

export const dropletPageSize = 200;

/** Every page of a list of droplets as the server gives them, paced; what they are worth is for the reader to judge. */
export async function* scanDropletPages(
  line: SendLane,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<DropletPage> {
  const visited = new Set<string>();
  let at: string | undefined = `${path}${path.includes('?') ? '&' : '?'}page=1&per_page=${dropletPageSize}`;
  // A page that comes again leads nowhere.
  while (at !== undefined && !visited.has(at)) {
    visited.add(at);
    const page: DropletPage = await fetchDropletPage(line, at, signal);
    yield page;
    at = page.next;
  }
}

export async function fetchDropletPage(line: SendLane, path: string, signal: AbortSignal): Promise<DropletPage> {
  let answer: ApiResponse;
  do {
    await line.waitForTurn(signal);
    answer = await line.request({ method: 'GET', path, until: signal });
    // The line waits until the server allows another.
  } while (answer.status === 429);
  if (answer.status !== 200) throw toApiError(answer, 'GET', '/v2/droplets', line.loginHints);
  const json = parseJson(answer.text());
  const body = json.ok && isRecord(json.value) ? json.value : undefined;
  const items = body?.droplets;
  const droplets = Array.isArray(items) ? items.map(decodeExactDroplet) : undefined;
  if (body === undefined || droplets === undefined || !droplets.every((droplet) => droplet !== undefined))
    throw new CliError('api_error', 'could not look up droplets: the answer is not understood', {
      detail: `status ${answer.status}, ${answer.contentType()}`,
      hint: 'check base_url with `cloudctl config list`',
      status: answer.status,
      requestId: answer.requestId(),
    });
  return { droplets, total: listTotal(body), next: nextPagePath(line.baseOrigin, body.links, path) };
}

function decodeExactDroplet(json: unknown): Droplet | undefined {
  const droplet = decodeDroplet(json);
  return droplet === undefined || !isExactId(droplet.id) ? undefined : droplet;
}
