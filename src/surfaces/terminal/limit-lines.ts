// The shared limits of concurrent tasks, one per line.
import type { Limits } from '../../engine/engine-api.ts'

/** The limit of one executor. */
export function executorLimitLine({ limits }: Limits['shared'], executor: string): string {
  const limit = limits[executor]
  return limit === undefined ? `There is no shared limit for ${executor}.` : lineOf(executor, limit)
}

export function sharedLimitLines({ maxConcurrent, limits }: Limits['shared']): string[] {
  const lines = [
    ...(maxConcurrent === null ? [] : [lineOf('all tasks', maxConcurrent)]),
    ...Object.entries(limits)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, limit]) => lineOf(name, limit)),
  ]
  return lines.length > 0
    ? lines
    : ['There are no shared limits: each process runs as many tasks as its own limit allows.']
}

function lineOf(what: string, limit: number): string {
  return `${what}: ${limit} at once`
}
