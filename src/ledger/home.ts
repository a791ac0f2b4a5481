// The home of a user: where what belongs to them alone is kept, and where a search for a ledger ends.
import { homedir } from 'node:os'

export type Environment = Readonly<Record<string, string | undefined>>

/** Undefined for a user that the system does not know, and without HOME. */
export function homeOf(env: Environment): string | undefined {
  if (env['HOME']) return env['HOME']
  try {
    return homedir()
  } catch {
    return undefined
  }
}
