// The differences between two reads of a task, shown when another client changed it first.

import { clipped } from '../../../src/core/storable-text.ts'

export interface Change {
  field: string
  before: string
  after: string
}

/** Fields that change with every write and mean nothing to people. */
const ignoredFields = new Set(['version', 'updatedAt', 'leaseUntil'])
const maxLength = 120

export function changesBetween(before: object, after: object): Change[] {
  const [old, fresh] = [before as Record<string, unknown>, after as Record<string, unknown>]
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((field) => !ignoredFields.has(field) && JSON.stringify(old[field]) !== JSON.stringify(fresh[field]))
    .map((field) => ({ field, before: shown(old[field]), after: shown(fresh[field]) }))
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return clipped(text, maxLength + 1)
}
