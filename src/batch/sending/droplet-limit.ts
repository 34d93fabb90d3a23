import type { ApiClient } from '../../api/client.ts';
import { readListTotal } from '../../api/list-page.ts';
import { CliError } from '../../errors.ts';
import { isJsonRecord, readNumberField } from '../../json.ts';

/** The error when the account has reached its droplet limit: status 422 with the id `droplet_limit`. */
export class DropletLimitError extends CliError {
  constructor(
    { code, message, detail, status, requestId }: CliError,
    hint = 'delete droplets, or ask for a higher limit',
  ) {
    super(code, message, { detail, hint, status, requestId });
  }
}

/** Adds the number of droplets that can still be created to the error, if the server provides it. */
export async function addCreatableDropletCountToError(
  error: DropletLimitError,
  api: Pick<ApiClient, 'json'>,
  until: AbortSignal,
): Promise<DropletLimitError> {
  try {
    const limit = accountLimit(await api.json({ method: 'GET', path: '/v2/account', until }));
    const page = await api.json({ method: 'GET', path: '/v2/droplets?page=1&per_page=1', until });
    const existing = isJsonRecord(page) ? readListTotal(page) : undefined;
    if (limit === undefined || existing === undefined) return error;
    const fitting = Math.max(0, limit - existing);
    const facts = `the limit is ${limit} and ${existing} ${existing === 1 ? 'droplet exists' : 'droplets exist'}`;
    if (fitting === 0) return new DropletLimitError(error, `delete droplets, or ask for a higher limit: ${facts}`);
    return new DropletLimitError(error, `create at most ${fitting} more, or delete droplets: ${facts}`);
  } catch {
    // The droplet limit only adds information to the error. If the limit cannot be read, the error is returned unchanged.
    return error;
  }
}

function accountLimit(json: unknown): number | undefined {
  const account = isJsonRecord(json) && isJsonRecord(json.account) ? json.account : {};
  const limit = readNumberField(account, 'droplet_limit');
  return limit !== undefined && Number.isSafeInteger(limit) && limit >= 0 ? limit : undefined;
}
