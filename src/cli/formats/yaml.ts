import { isExactNumber, parseExact, stringifyExact } from '../../exact.ts';
import { escapeUnprintable } from '../../sanitize/json-text.ts';

/** A YAML 1.2 document of the data. */
export async function yamlDocument(data: unknown): Promise<string> {
  // The package is CommonJS: in the bundle it only has a default export.
  const { Document, Scalar, visit } = (await import('yaml')).default;
  const exact = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    identify: isExactNumber,
    resolve: String,
    stringify: exactNumberText,
  };
  const document = new Document(toJsonValue(data), { aliasDuplicateObjects: false, customTags: [exact] });
  visit(document, {
    Scalar(_, node) {
      // Only a double-quoted scalar can contain escapes.
      if (typeof node.value === 'string' && (node.value.includes('\n') || escapeUnprintable(node.value) !== node.value))
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapeUnprintable(document.toString(oneLineScalars));
}

/** A line of a text never stands alone: in the log of a continuous integration, `::error` at the beginning of one is a command. */
const oneLineScalars = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };

// Secrets and dates define `toJSON`, which YAML has to respect too.
function toJsonValue(data: unknown): unknown {
  const text = stringifyExact(data);
  return text === undefined ? null : parseExact(text);
}

function exactNumberText({ value }: { readonly value: unknown }): string {
  return String(value);
}
