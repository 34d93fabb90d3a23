import type { JsonSchema } from '../../../fixtures/json-schema.ts';

const text = { type: 'string', minLength: 1 };
const shortText = { ...text, maxLength: 1024 };
const index = { type: 'integer', minimum: 0 };
const one = { const: 1 };

function object(required: readonly string[], properties: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { type: 'object', required, properties, ...more };
}

function list(items: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { type: 'array', items, ...more };
}

/**
 * The part of the schema of SARIF 2.1.0 (errata 01) that a report uses. What code scanning requires beyond it is required
 * here too: the help of a rule, one file with a region for each result, and its fingerprint.
 */
export const codeScanningSchema: JsonSchema = object(['$schema', 'version', 'runs'], {
  $schema: { type: 'string', format: 'uri' },
  version: { const: '2.1.0' },
  runs: list(
    object(['tool', 'results', 'automationDetails'], {
      tool: object(['driver'], {
        driver: object(['name', 'semanticVersion', 'rules'], {
          name: text,
          semanticVersion: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' },
          rules: list(
            object(['id', 'shortDescription', 'fullDescription', 'help'], {
              id: text,
              shortDescription: object(['text'], { text: shortText }),
              fullDescription: object(['text'], { text: shortText }),
              help: object(['text', 'markdown'], { text, markdown: text }),
              helpUri: { type: 'string', format: 'uri' },
              properties: object(['tags', 'precision'], {
                tags: list(text, { uniqueItems: true }),
                precision: { enum: ['very-high', 'high', 'medium', 'low'] },
              }),
            }),
            { uniqueItems: true },
          ),
        }),
      }),
      automationDetails: object(['id'], { id: { type: 'string', pattern: '^[^/]+/[^/]+/$' } }),
      invocations: list(
        object(['executionSuccessful'], {
          executionSuccessful: { type: 'boolean' },
          startTimeUtc: { type: 'string', format: 'date-time' },
          toolExecutionNotifications: list(
            object(['message'], {
              message: object(['text'], { text }),
              level: { enum: ['none', 'note', 'warning', 'error'] },
              associatedRule: object(['id', 'index'], { id: text, index }),
            }),
          ),
        }),
        { uniqueItems: true },
      ),
      properties: { type: 'object' },
      results: list(
        object(['message', 'locations', 'ruleId', 'ruleIndex', 'partialFingerprints'], {
          ruleId: text,
          ruleIndex: index,
          kind: { enum: ['notApplicable', 'pass', 'fail', 'review', 'open', 'informational'] },
          level: { enum: ['none', 'note', 'warning', 'error'] },
          message: object(['text'], { text }),
          locations: list(
            object(['physicalLocation'], {
              physicalLocation: object(['artifactLocation', 'region'], {
                artifactLocation: object(['uri'], { uri: { ...text, format: 'uri-reference' } }),
                region: object(['startLine', 'startColumn', 'endLine', 'endColumn'], {
                  startLine: one,
                  startColumn: one,
                  endLine: one,
                  endColumn: { const: 2 },
                }),
              }),
              logicalLocations: list(object(['name'], { name: text, fullyQualifiedName: text, kind: text }), {
                uniqueItems: true,
              }),
            }),
            { minItems: 1 },
          ),
          partialFingerprints: object(['primaryLocationLineHash'], {
            primaryLocationLineHash: { type: 'string', pattern: '^[0-9a-f]{32}:1$' },
          }),
        }),
      ),
    }),
    { minItems: 1 },
  ),
});
