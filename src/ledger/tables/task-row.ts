// The columns of the task table, by which statement writes them.
import { defineTable, flag, json, jsonOrNull, plain, serial } from '../columns.ts'

/** What `save` writes: everything that changes while a task lives. */
export const stateFields = {
  status: plain,
  statusReason: plain,
  ready: flag,
  claimable: flag,
  held: flag,
  result: json,
  error: jsonOrNull,
  owner: plain,
  fence: plain,
  leaseMs: plain,
  leaseUntil: plain,
  attempt: plain,
  run: plain,
  runOpen: flag,
  openBlockers: plain,
  wakes: plain,
  crashes: plain,
  notBefore: plain,
  deadline: plain,
  snapshot: plain,
  updatedAt: plain,
  completedAt: plain,
}

/** What `saveDefinition` writes: what the task was told to be. */
export const definitionFields = {
  name: plain,
  goal: plain,
  description: plain,
  executor: plain,
  input: json,
  priority: plain,
  parentId: plain,
  lane: plain,
  depth: plain,
  role: plain,
  tags: json,
  policy: json,
  metadata: json,
  deletedAt: plain,
}

export const tasks = defineTable('task', {
  seq: serial,
  id: plain,
  key: plain,
  group: flag,
  childCount: plain,
  progress: jsonOrNull,
  version: plain,
  createdAt: plain,
  stuckBy: plain,
  ...definitionFields,
  ...stateFields,
})
