/**
 * Whether the result of a function declared IMMUTABLE changes over time, because the function reads the clock or
 * generates values. `perhaps`: the function uses only the date or a part of the time. The result is a guess from the
 * text of the function body.
 */
export function detectTimeDependentFunctionBody(text: string): 'surely' | 'perhaps' | undefined {
  const words = text
    .toLowerCase()
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .replace(/'(?:[^']|'')*'/g, "''");
  if (!volatileCalls.test(words)) return undefined;
  return timePartCalls.test(words) ? 'perhaps' : 'surely';
}

const volatileCalls =
  /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|random|gen_random_uuid|uuid_generate_v[14]|uuidv[47]|nextval|txid_current|pg_current_xact_id)\s*\(|\b(current_timestamp|current_date|current_time|localtime|localtimestamp)\b/;

const timePartCalls =
  /\b(age|date_part|extract|date_trunc|date)\s*\(|::\s*date\b|\bas\s+date\b|\bcurrent_date\b|\b(if|case|perform|raise)\b/;
