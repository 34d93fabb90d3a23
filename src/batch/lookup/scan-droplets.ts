import { type ApiResponse, toApiError } from '../../api/api-response.ts';
import { type Droplet, decodeDroplet, isSafeDropletId } from '../../api/droplets.ts';
import { nextPagePath, readListTotal } from '../../api/list-page.ts';
import { CliError } from '../../errors.ts';
import { isJsonRecord, tryParseJson } from '../../json.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';

export interface DropletPage {
  readonly droplets: readonly Droplet[];
  /** `meta.total` */
  readonly total: number | undefined;
  /** Path and query of the next page. */
  readonly next: string | undefined;
}

export const dropletPageSize = 200;

/**
 * Reads every page of a list of droplets and waits for the rate limit between pages. The caller checks whether the pages form a
 * complete list.
 */
export async function* readDropletPages(
  lane: RateLimitedSender,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<DropletPage> {
  const visited = new Set<string>();
  let at: string | undefined = `${path}${path.includes('?') ? '&' : '?'}page=1&per_page=${dropletPageSize}`;
  // Reading ends at a link to a page that was already read, because otherwise it would never end.
  while (at !== undefined && !visited.has(at)) {
    visited.add(at);
    const page: DropletPage = await fetchDropletPage(lane, at, signal);
    yield page;
    at = page.next;
  }
}

/** A page that is not a valid list is requested again, like a response with status 502. */
export async function fetchDropletPage(
  lane: RateLimitedSender,
  path: string,
  signal: AbortSignal,
): Promise<DropletPage> {
  for (let attempt = 1; ; attempt++) {
    const response = await requestPage(lane, path, signal);
    const page = decodePage(response, lane, path);
    if (page !== undefined) return page;
    if (attempt < maxAttempts) continue;
    throw new CliError('api_error', 'could not parse the response of GET /v2/droplets', {
      detail: `status ${response.status}, ${response.contentType()}`,
      hint: 'check base_url with `cloudctl config list`',
      status: response.status,
      requestId: response.requestId(),
    });
  }
}

const maxAttempts = 3;

async function requestPage(lane: RateLimitedSender, path: string, signal: AbortSignal): Promise<ApiResponse> {
  let response: ApiResponse;
  do {
    await lane.waitForTurn(signal);
    response = await lane.request({ method: 'GET', path, until: signal });
    // After a 429, the send lane waits until the rate limit allows another request.
  } while (response.status === 429);
  if (response.status !== 200) throw toApiError(response, 'GET', '/v2/droplets', lane.loginHints);
  return response;
}

function decodePage(response: ApiResponse, lane: RateLimitedSender, path: string): DropletPage | undefined {
  const json = tryParseJson(response.text());
  const body = json.ok && isJsonRecord(json.value) ? json.value : undefined;
  const items = body?.droplets;
  const droplets = Array.isArray(items) ? items.map(decodeExactDroplet) : undefined;
  if (body === undefined || droplets === undefined || !droplets.every((droplet) => droplet !== undefined))
    return undefined;
  return { droplets, total: readListTotal(body), next: nextPagePath(lane.baseOrigin, body.links, path) };
}

function decodeExactDroplet(json: unknown): Droplet | undefined {
  const droplet = decodeDroplet(json);
  return droplet === undefined || !isSafeDropletId(droplet.id) ? undefined : droplet;
}
