// How supervisor, tasks and runs behave as actors: their charts, with what an actor needs beside a chart to be let go of, and
// without what would leave something behind for each of many thousand tasks.
import { type ActorLogic, type AnyActorRef, type Snapshot, setup } from 'xstate'
import type { RunStatus } from '../entities/run.ts'
import { machines } from '../machines/charts.ts'
import { runTransitions, type SupervisorEvent } from '../machines/lifecycles.ts'
import { type TaskMachineContext, taskMachine } from '../machines/task-machine.ts'
import type { restoreSnapshot } from '../machines/task-snapshot.ts'

export type TaskSnapshot = ReturnType<typeof restoreSnapshot>

/** An actor that has a parent cannot be stopped from outside: it lets go through an event that is none of its chart. */
const release = 'release'

/** The lifecycle chart as an actor's logic. */
export const taskActorLogic = behavingLike(taskMachine, (snapshot: TaskSnapshot, event, scope) =>
  event.type === release ? ended(snapshot) : taskMachine.transition(snapshot, event as never, scope),
)

/** The same for a task that somebody else works on: what its events tell of name, attempt and run comes along with them. */
export const watchedTaskLogic = behavingLike(taskMachine, (snapshot: TaskSnapshot, event, scope) => {
  if (event.type === release) return ended(snapshot)
  const next = taskMachine.transition(snapshot, event as never, scope)
  const { type: _type, ...told } = event
  return { ...next, context: { ...next.context, ...(told as Partial<TaskMachineContext>) } }
})

const supervisorMachine = setup({ types: { events: {} as { type: SupervisorEvent } } }).createMachine(
  machines.supervisor.config,
)

/**
 * The supervisor's chart, deaf to the end of its children: XState remembers for ever which transitions a state has for an
 * event's type, and the type of a child's end holds the child's id, so every task would leave some hundred bytes behind.
 */
export const supervisorLogic = behavingLike(supervisorMachine, (snapshot: never, event, scope) =>
  event.type.startsWith('xstate.done.actor.')
    ? snapshot
    : supervisorMachine.transition(snapshot, event as never, scope),
)

type RunSnapshot = Snapshot<undefined> & { value: RunStatus; context: { taskId: string; run: number } }
type RunInput = { taskId: string; run: number }

/** A run as an actor: small enough to be made for each of many thousand runs a second. */
export const runActorLogic: ActorLogic<RunSnapshot, { type: 'end' | 'close' }, RunInput> & { config: object } = {
  // Where inspectors look for the chart to draw.
  config: machines.run.config,
  transition(snapshot, event) {
    const value = runTransitions[snapshot.value][event.type]
    if (value === undefined) return snapshot
    return { ...snapshot, value, status: value === 'closed' ? 'done' : 'active' } as RunSnapshot
  },
  getInitialSnapshot: (_scope, input) => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'live',
    context: { taskId: input.taskId, run: input.run },
  }),
  getPersistedSnapshot: (snapshot) => snapshot,
}

/** In a final state of the chart it has let go by itself. */
export function released(task: AnyActorRef): void {
  if ((task.getSnapshot() as { status: string }).status === 'active') task.send({ type: release })
}

function ended(snapshot: TaskSnapshot): TaskSnapshot {
  return { ...snapshot, status: 'done', output: undefined } as unknown as TaskSnapshot
}

/** A machine with another `transition`. */
function behavingLike<M extends object, S>(
  machine: M,
  transition: (snapshot: S, event: { type: string }, scope: never) => unknown,
): M {
  return Object.assign(Object.create(Object.getPrototypeOf(machine) as object) as object, machine, {
    transition,
  }) as unknown as M
}
