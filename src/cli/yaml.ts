import { Document, Scalar, visit } from 'yaml';
import { isLossless, parseExact, stringifyExact } from '../base/exact.ts';
import { redactData } from '../base/redact.ts';
import { escapeUnprintable } from '../base/sanitize.ts';

/** Formats the data as a YAML 1.2 document. */
export function yamlDocument(data: unknown): string {
  const exact = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    identify: isLossless,
    resolve: String,
    stringify: losslessNumberText,
  };
  const document = new Document(toJsonValue(data), { aliasDuplicateObjects: false, customTags: [exact] });
  visit(document, {
    Scalar(_, node) {
      // In YAML, only a double-quoted scalar can contain escape sequences.
      if (typeof node.value === 'string' && (node.value.includes('\n') || escapeUnprintable(node.value) !== node.value))
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapeUnprintable(document.toString(oneLineScalars));
}

/**
 * YAML block scalars are not used, because their lines begin with the text itself, and `::error` at the start of a line is a
 * command in the log of some CI systems.
 */
const oneLineScalars = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };

// Secrets and dates define `toJSON`, which the YAML output must use too.
function toJsonValue(data: unknown): unknown {
  const text = stringifyExact(data);
  // Redacted before the format is chosen, because YAML would read `[secret]` without quotes as a list.
  return text === undefined ? null : parseExact(redactData(text));
}

function losslessNumberText({ value }: { readonly value: unknown }): string {
  return String(value);
}
