// The home of a user: holds files of that user alone, and ends the search for a ledger.
import { homedir } from 'node:os'

export type Environment = Readonly<Record<string, string | undefined>>

/** Undefined for a user that the system does not list, and without HOME. */
export function homeOf(env: Environment): string | undefined {
  if (env['HOME']) return env['HOME']
  try {
    return homedir()
  } catch {
    return undefined
  }
}
