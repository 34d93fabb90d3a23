import { commentCreationStatementsQuery } from './parts/comments.ts';
import {
  checkConstraintCreationStatementsQuery,
  constraintValidationStatementsQuery,
  foreignKeyCreationStatementsQuery,
  keyConstraintCreationStatementsQuery,
} from './parts/constraints.ts';
import { aggregateCreationStatementsQuery, functionCreationStatementsQuery } from './parts/functions.ts';
import {
  indexCreationStatementsQuery,
  indexPartitionAttachmentQuery,
  replicaIdentityAndRowSecurityQuery,
} from './parts/indexes.ts';
import {
  collationCreationStatementsQuery,
  extensionCreationStatementsQuery,
  namespaceCreationStatementsQuery,
} from './parts/namespaces.ts';
import { publicationCreationStatementsQuery } from './parts/publications.ts';
import { sequenceCreationStatementsQuery, sequenceOwnerCreationStatementsQuery } from './parts/sequences.ts';
import { columnSettingCreationStatementsQuery, tableCreationStatementsQuery } from './parts/tables.ts';
import {
  eventTriggerCreationStatementsQuery,
  extendedStatisticsCreationStatementsQuery,
  partitionTriggerStateQuery,
  rewriteRuleCreationStatementsQuery,
  rowPolicyCreationStatementsQuery,
  triggerCreationStatementsQuery,
} from './parts/triggers.ts';
import {
  castCreationStatementsQuery,
  compositeTypeCreationStatementsQuery,
  domainConstraintCreationStatementsQuery,
  domainTypeCreationStatementsQuery,
  enumTypeCreationStatementsQuery,
  rangeTypeCreationStatementsQuery,
} from './parts/types.ts';
import {
  columnDefaultCreationStatementsQuery,
  materializedViewCreationStatementsQuery,
  viewCreationStatementsQuery,
} from './parts/views.ts';
import type { SchemaObjectDefinitionQuery } from './schema-object-definition.ts';

/** Queries for all objects that can be copied, one per kind. */
export const schemaObjectCreationStatementsQueries: readonly SchemaObjectDefinitionQuery[] = [
  namespaceCreationStatementsQuery,
  extensionCreationStatementsQuery,
  collationCreationStatementsQuery,
  enumTypeCreationStatementsQuery,
  compositeTypeCreationStatementsQuery,
  domainTypeCreationStatementsQuery,
  domainConstraintCreationStatementsQuery,
  rangeTypeCreationStatementsQuery,
  castCreationStatementsQuery,
  functionCreationStatementsQuery,
  aggregateCreationStatementsQuery,
  sequenceCreationStatementsQuery,
  sequenceOwnerCreationStatementsQuery,
  tableCreationStatementsQuery,
  columnSettingCreationStatementsQuery,
  columnDefaultCreationStatementsQuery,
  viewCreationStatementsQuery,
  materializedViewCreationStatementsQuery,
  checkConstraintCreationStatementsQuery,
  constraintValidationStatementsQuery,
  keyConstraintCreationStatementsQuery,
  indexCreationStatementsQuery,
  indexPartitionAttachmentQuery,
  replicaIdentityAndRowSecurityQuery,
  extendedStatisticsCreationStatementsQuery,
  triggerCreationStatementsQuery,
  partitionTriggerStateQuery,
  rewriteRuleCreationStatementsQuery,
  rowPolicyCreationStatementsQuery,
  foreignKeyCreationStatementsQuery,
  publicationCreationStatementsQuery,
  commentCreationStatementsQuery,
  eventTriggerCreationStatementsQuery,
];
