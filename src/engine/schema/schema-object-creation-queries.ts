import { commentCreationQuery } from './parts/comments.ts';
import {
  checkConstraintCreationQuery,
  constraintValidationStatementsQuery,
  foreignKeyCreationQuery,
  keyConstraintCreationQuery,
} from './parts/constraints.ts';
import { aggregateCreationQuery, functionCreationQuery } from './parts/functions.ts';
import {
  indexCreationQuery,
  indexPartitionAttachmentQuery,
  replicaIdentityAndRowSecurityQuery,
} from './parts/indexes.ts';
import { collationCreationQuery, extensionCreationQuery, namespaceCreationQuery } from './parts/namespaces.ts';
import { publicationCreationQuery } from './parts/publications.ts';
import { sequenceCreationQuery, sequenceOwnerCreationQuery } from './parts/sequences.ts';
import { columnSettingCreationQuery, tableCreationQuery } from './parts/tables.ts';
import {
  eventTriggerCreationQuery,
  extendedStatisticsCreationQuery,
  partitionTriggerStateQuery,
  rewriteRuleCreationQuery,
  rowPolicyCreationQuery,
  triggerCreationQuery,
} from './parts/triggers.ts';
import {
  castCreationQuery,
  compositeTypeCreationQuery,
  domainConstraintCreationQuery,
  domainTypeCreationQuery,
  enumTypeCreationQuery,
  rangeTypeCreationQuery,
} from './parts/types.ts';
import { columnDefaultCreationQuery, materializedViewCreationQuery, viewCreationQuery } from './parts/views.ts';
import type { SchemaObjectDefinitionQuery } from './schema-object-definition.ts';

/** Queries for all objects that can be copied, one per kind. */
export const schemaObjectCreationQueries: readonly SchemaObjectDefinitionQuery[] = [
  namespaceCreationQuery,
  extensionCreationQuery,
  collationCreationQuery,
  enumTypeCreationQuery,
  compositeTypeCreationQuery,
  domainTypeCreationQuery,
  domainConstraintCreationQuery,
  rangeTypeCreationQuery,
  castCreationQuery,
  functionCreationQuery,
  aggregateCreationQuery,
  sequenceCreationQuery,
  sequenceOwnerCreationQuery,
  tableCreationQuery,
  columnSettingCreationQuery,
  columnDefaultCreationQuery,
  viewCreationQuery,
  materializedViewCreationQuery,
  checkConstraintCreationQuery,
  constraintValidationStatementsQuery,
  keyConstraintCreationQuery,
  indexCreationQuery,
  indexPartitionAttachmentQuery,
  replicaIdentityAndRowSecurityQuery,
  extendedStatisticsCreationQuery,
  triggerCreationQuery,
  partitionTriggerStateQuery,
  rewriteRuleCreationQuery,
  rowPolicyCreationQuery,
  foreignKeyCreationQuery,
  publicationCreationQuery,
  commentCreationQuery,
  eventTriggerCreationQuery,
];
