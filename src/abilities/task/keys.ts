// Whose keys are whose: the key that a principal gives is its own, so that it neither finds nor meets the task of another one.
import { type Caller, mayRunCommands } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'

/**
 * Keys that begin so are made, from who calls and what they say: by surfaces, and here for principals with a name or a task. A client
 * cannot name the key of another one.
 */
export const keyPrefixes = { http: 'http:', chat: 'chat:', own: 'own:' } as const

/** The keys of plans begin so (plans/round-key.ts): a plan takes a task with such a key for one of its own. */
const planPrefix = 'plan:'

export function isMadeKey(key: string): boolean {
  return Object.values(keyPrefixes).some((prefix) => key.startsWith(prefix))
}

/**
 * The key as it is stored. Of callers without a name, and of runs, whose keys are the identities of their calls, it is what they gave.
 *
 * @throws ErrandError FORBIDDEN for the key of a plan's task, where the caller may have no commands run.
 */
export function storedKey(caller: Caller, key: string): string {
  const stored = inNamespace(caller, key)
  if (!stored.startsWith(planPrefix) || mayRunCommands(caller)) return stored
  throw new ErrandError(
    'FORBIDDEN',
    `The key "${key}" is refused: keys that begin with "${planPrefix}" belong to the tasks of plans, which run commands, and this caller may have none run. Use another key.`,
    { key },
  )
}

function inNamespace({ owner, taskId, run, plan }: Caller, key: string): string {
  if (run !== undefined || plan || isMadeKey(key)) return key
  if (owner !== undefined) return `${keyPrefixes.own}owner:${encodeURIComponent(owner)}:${key}`
  return taskId === undefined ? key : `${keyPrefixes.own}task:${taskId}:${key}`
}
