import { type CallbackParameters, type ParameterLocation, parseParameters, type ResponseValidator } from './decide.ts';

/** The result of a pasted line; only `accepted` ends the wait for an authorization response. */
type PasteResult<Accepted> =
  | { readonly kind: 'accepted'; readonly accepted: Accepted }
  /** The pasted response has no state parameter: it is refused, and the login continues to wait. */
  | { readonly kind: 'incomplete' }
  /** The pasted line is not an authorization response. */
  | { readonly kind: 'unreadable' };

/** The maximum length of a pasted line, in characters. */
export const maxPasteLength = 8 * 1024;

/** Evaluates a pasted line: the complete redirect URL, with query or fragment, or `CODE STATE`. */
export function readPaste<Accepted>(line: string, judge: ResponseValidator<Accepted>): PasteResult<Accepted> {
  const pasted = parsePaste(line);
  if (pasted === undefined) {
    return { kind: 'unreadable' };
  }
  const { parameters, location: place } = pasted;
  if (hasResult(parameters) && !parameters.has('state')) {
    return { kind: 'incomplete' };
  }
  const accepted = judge(parameters, place);
  return accepted === undefined ? { kind: 'unreadable' } : { kind: 'accepted', accepted };
}

interface PastedResponse {
  readonly parameters: CallbackParameters;
  readonly location: ParameterLocation;
}

/** Decodes a pasted line; returns undefined when the line has another form, is too long, or repeats a parameter. */
function parsePaste(line: string): PastedResponse | undefined {
  // Terminals with bracketed paste mark the start and the end of pasted text with escape sequences.
  const text = line.replaceAll(/\x1b\[20[01]~/g, '').trim();
  if (line.length > maxPasteLength || /[^\x20-\x7e\t]/.test(text)) {
    return undefined;
  }
  const words = text.replace(/^(['"<])(.*)['">]$/, '$2').split(/[ \t]+/);
  const [first = '', second] = words;
  if (first === '' || words.length > 2) {
    return undefined;
  }
  if (second !== undefined) {
    return {
      location: 'query',
      parameters: new Map([
        ['code', first],
        ['state', second],
      ]),
    };
  }
  return first.includes('?') || first.includes('#') || first.includes('://')
    ? parsePastedUrl(first)
    : { location: 'query', parameters: new Map([['code', first]]) };
}

/** The part of the URL that contains the authorization response; an empty fragment after a query is ignored. */
function parsePastedUrl(address: string): PastedResponse | undefined {
  const [, rawQuery = '', rawFragment = ''] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(address) ?? [];
  const query = parseParameters(rawQuery);
  const fragment = parseParameters(rawFragment);
  if (query === undefined || fragment === undefined) {
    return undefined;
  }
  if (hasResult(query) || !hasResult(fragment)) return { location: 'query', parameters: query };
  // Some servers send `iss` in the query and the other parameters in the fragment; the script of the bridge page
  // combines them in the same way.
  const issuer = [...query].filter(([name]) => name === 'iss');
  return { location: 'fragment', parameters: new Map([...issuer, ...fragment]) };
}

function hasResult(parameters: CallbackParameters): boolean {
  return parameters.has('code') || parameters.has('error') || parameters.has('access_token');
}
