// What a request concerns, in the words of locks: tasks by their ids, and names of other things behind a prefix.
import type { Concern } from '../concern.ts'
import type { Request } from '../statement.ts'

export function concernOf({ statement, concerns = 'all' }: Request): Concern {
  return statement?.concern ?? { of: concerns, places: [] }
}

/** The ids at these places of a request; a task without a parent has none there. */
export function idsAt({ parameters }: Request, places: readonly number[]): string[] {
  return places.map((place) => parameters[place]).filter((id) => typeof id === 'string')
}

export const keyPrefix = 'key:'
/** The name of a board, among the keys. */
export const boardKey = (name: string): string => `${keyPrefix}board/${name}`

/** The tasks, keys and branches that a request names. */
export function namesOf(request: Request): string[] {
  const { of, places } = concernOf(request)
  if (of === 'keys' || of === 'branches') return idsAt(request, places).map((key) => keyPrefix + key)
  return of === 'tasks' ? idsAt(request, places) : []
}
