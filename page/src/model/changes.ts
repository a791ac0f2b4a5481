// What has become different between two readings of a task: told to whoever wanted to change it and came too late.

export interface Change {
  field: string
  before: string
  after: string
}

/** Fields that change with every write and say nothing to a person. */
const silent = new Set(['version', 'updatedAt', 'leaseUntil'])
const longest = 120

export function changesBetween(before: object, after: object): Change[] {
  const [old, fresh] = [before as Record<string, unknown>, after as Record<string, unknown>]
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((field) => !silent.has(field) && JSON.stringify(old[field]) !== JSON.stringify(fresh[field]))
    .map((field) => ({ field, before: shown(old[field]), after: shown(fresh[field]) }))
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
