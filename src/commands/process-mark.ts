// The variables that mark every process of a command. A process inherits them when it is forked, and keeps them in a
// session of its own, so a command's processes are found when nothing else connects them with it (docs/decisions/0022).

/** The id of the call that the process belongs to. */
const callIdVariable = 'ERRAND_CALL_ID'
/**
 * The ids of the enclosing calls, outermost first, separated by spaces: a command may run an engine, whose commands
 * have call ids of their own.
 */
const outerCallIdsVariable = 'ERRAND_OUTER_CALL_IDS'

/** Number of enclosing calls that are kept, from the innermost. */
const maxOuterCalls = 100

/** `NAME=value` as in the environment of the call's processes. */
export function markOf(callId: string): string {
  return `${callIdVariable}=${callId}`
}

/** The variables for a command started by a process with this environment. */
export function markVariables(callId: string, environment: NodeJS.ProcessEnv): Record<string, string> {
  const { [callIdVariable]: enclosing = '', [outerCallIdsVariable]: outer = '' } = environment
  const ids = `${outer} ${enclosing}`.split(' ').filter((id) => id !== '')
  const own = { [callIdVariable]: callId }
  return ids.length === 0 ? own : { ...own, [outerCallIdsVariable]: ids.slice(-maxOuterCalls).join(' ') }
}

/** The mark of a process, and those of the enclosing commands. */
export interface ShownMarks {
  own: string | undefined
  outer: readonly string[]
}

export function marksIn(environment: readonly string[]): ShownMarks {
  const [own, outer] = [callIdVariable, outerCallIdsVariable].map((name) =>
    environment.find((variable) => variable.startsWith(`${name}=`)),
  )
  return {
    own,
    outer:
      outer
        ?.slice(outerCallIdsVariable.length + 1)
        .split(' ')
        .map(markOf) ?? [],
  }
}
