// Whose keys are whose: the key that a principal gives is its own, so that it neither finds nor meets the task of another one.
import type { Caller } from '../../bus/caller.ts'

/**
 * Keys that begin so are made, from who calls and what they say: by surfaces, and here for principals with a name or a task. A client
 * cannot name the key of another one.
 */
export const keyPrefixes = { http: 'http:', chat: 'chat:', own: 'own:' } as const

export function isMadeKey(key: string): boolean {
  return Object.values(keyPrefixes).some((prefix) => key.startsWith(prefix))
}

/**
 * The key as it is stored. Of callers without a name, and of runs, whose keys are the identities of their calls, it is what they gave.
 */
export function storedKey({ owner, taskId, run }: Caller, key: string): string {
  if (run !== undefined || isMadeKey(key)) return key
  if (owner !== undefined) return `${keyPrefixes.own}owner:${encodeURIComponent(owner)}:${key}`
  return taskId === undefined ? key : `${keyPrefixes.own}task:${taskId}:${key}`
}
