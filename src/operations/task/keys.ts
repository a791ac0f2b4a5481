// Namespaces of keys: the key that a principal gives is stored under its own name, so it cannot collide with another principal's.
import { type Caller, mayRunCommands } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { scheduleKeyPrefix } from '../../entities/schedule.ts'

/**
 * Prefixes of derived keys. Surfaces derive keys from the caller and its input; `own` is for principals with a name or a task,
 * `schedule` for the tasks of schedules. Clients cannot pass keys with these prefixes.
 */
export const keyPrefixes = { http: 'http:', chat: 'chat:', own: 'own:', schedule: scheduleKeyPrefix } as const

/** The prefix of plans' keys (plans/round-key.ts): `errand run` treats a task with such a key as its own. */
const planPrefix = 'plan:'

export function isPlanKey(key: string): boolean {
  return key.startsWith(planPrefix)
}

export function isMadeKey(key: string): boolean {
  return Object.values(keyPrefixes).some((prefix) => key.startsWith(prefix))
}

/**
 * The key as it is stored: unchanged for callers without a name and for runs, whose keys are the identities of their calls.
 *
 * @throws ErrandError FORBIDDEN for the key of a plan's task if the caller may not run commands.
 */
export function storedKey(caller: Caller, key: string): string {
  const stored = inNamespace(caller, key)
  if (!isPlanKey(stored) || mayRunCommands(caller)) return stored
  throw new ErrandError(
    'FORBIDDEN',
    `The key "${key}" is refused: keys that begin with "${planPrefix}" belong to the tasks of plans, which run commands, and this caller may not run commands. Use another key.`,
    { key },
  )
}

function inNamespace({ owner, taskId, run, plan }: Caller, key: string): string {
  if (run !== undefined || plan || isMadeKey(key)) return key
  if (owner !== undefined) return `${keyPrefixes.own}owner:${encodeURIComponent(owner)}:${key}`
  return taskId === undefined ? key : `${keyPrefixes.own}task:${taskId}:${key}`
}
