import { type CallbackParameters, type ParameterLocation, parseCallbackParameters } from './callback-parameters.ts';
import type { ResponseValidator } from './request-decision.ts';

/** What a pasted line came to. Only `accepted` ends the login. */
export type PasteResult<Accepted> =
  | { readonly kind: 'accepted'; readonly accepted: Accepted }
  /** A response without its state: refused, the login stays armed, the hint is to paste the whole address. */
  | { readonly kind: 'incomplete' }
  /** Nothing to do with a response. */
  | { readonly kind: 'unreadable' };

/** Characters of a pasted line; more is not looked at. */
export const maxPasteLength = 8 * 1024;

/** Judges a pasted line: the whole redirect URL, with query or fragment, or `CODE STATE`. */
export function evaluatePaste<Accepted>(line: string, judge: ResponseValidator<Accepted>): PasteResult<Accepted> {
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

/** Reads a pasted line; undefined when it is none of the forms, too long, or repeats a parameter. */
function parsePaste(line: string): PastedResponse | undefined {
  // Terminals that bracket a paste put marks of their own around it.
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

/** The side of the address that carries the response; a bare `#` behind a query counts for nothing. */
function parsePastedUrl(address: string): PastedResponse | undefined {
  const [, rawQuery = '', rawFragment = ''] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(address) ?? [];
  const query = parseCallbackParameters(rawQuery);
  const fragment = parseCallbackParameters(rawFragment);
  if (query === undefined || fragment === undefined) {
    return undefined;
  }
  if (hasResult(query) || !hasResult(fragment)) return { location: 'query', parameters: query };
  // As the bridge hands it over: an issuer named in the query belongs to the answer in the fragment.
  const issuer = [...query].filter(([name]) => name === 'iss');
  return { location: 'fragment', parameters: new Map([...issuer, ...fragment]) };
}

function hasResult(parameters: CallbackParameters): boolean {
  return parameters.has('code') || parameters.has('error') || parameters.has('access_token');
}
