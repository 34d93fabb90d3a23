import { describe, expect, it } from 'vitest';
import { buildErrorJson, CliError, exitCodes, usageError } from '../../src/base/errors.ts';

/** The closed list of docs/errors.md, by exit code. */
const codes = {
  2: ['usage', 'config_invalid', 'profile_unknown'],
  4: [
    'not_logged_in',
    'needs_login',
    'token_refused',
    'token_command_failed',
    'scope_too_small',
    'scope_mismatch',
    'access_denied',
    'consent_required',
    'login_required',
    'state_mismatch',
    'malformed_response',
    'login_timeout',
    'invalid_grant',
    'invalid_client',
    'invalid_scope',
  ],
  1: [
    'server_error',
    'temporarily_unavailable',
    'port_in_use',
    'keychain_unavailable',
    'busy',
    'rate_limited',
    'api_error',
    'not_found',
    'incomplete_list',
    'query_failed',
    'rehearsal_failed',
    'contents_differ',
    'internal',
  ],
  6: ['unreachable', 'tls', 'timeout'],
  7: ['storage', 'output'],
  5: ['batch_partial', 'contents_not_comparable', 'inventory_incomplete', 'cutover_incomplete', 'not_proven'],
  3: ['preflight_blocked', 'source_unreachable'],
  130: ['cancelled'],
};

describe('error codes', () => {
  it('are a closed list, each with its exit status', () => {
    const expected = Object.entries(codes).flatMap(([exit, names]) => names.map((name) => [name, Number(exit)]));
    expect(Object.entries(exitCodes).sort()).toEqual(expected.sort());
  });

  it('decide the exit status unless the error brings its own', () => {
    expect(new CliError('timeout', 'x').exitCode).toBe(6);
    expect(new CliError('cancelled', 'terminated', { exitCode: 143 }).exitCode).toBe(143);
    expect(usageError('x')).toMatchObject({ code: 'usage', exitCode: 2 });
  });
});

describe('the JSON shape of an error', () => {
  it('has every part that is known', () => {
    const error = new CliError('token_refused', 'refused', { detail: 'd', hint: 'h', status: 401, requestId: 'r-1' });
    expect(buildErrorJson(error)).toEqual({
      error: {
        code: 'token_refused',
        message: 'refused',
        detail: 'd',
        hint: 'h',
        exit_code: 4,
        status: 401,
        request_id: 'r-1',
      },
    });
  });

  it('leaves absent parts out', () => {
    expect(JSON.stringify(buildErrorJson(new CliError('busy', 'busy')))).toBe(
      '{"error":{"code":"busy","message":"busy","exit_code":1}}',
    );
  });

  it('never shows the cause', () => {
    const error = new CliError('unreachable', 'no', { cause: new Error('refresh_token=hunter2') });
    expect(JSON.stringify(buildErrorJson(error))).not.toContain('hunter2');
  });
});
