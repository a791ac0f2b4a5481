// How supervisor, tasks and runs behave as actors: their charts, with an event that stops an actor from outside, and
// without what would leave memory behind for each of many thousand tasks.
import type { ActorLogic, AnyActorRef, Snapshot } from 'xstate'
import type { RunStatus } from '../entities/run.ts'
import { runEdges, runMachine } from '../machines/run-machine.ts'
import { supervisorMachine } from '../machines/supervisor-machine.ts'
import { nextStatus } from '../machines/task-edges.ts'
import { type TaskEventName, type TaskMachineContext, taskMachine } from '../machines/task-machine.ts'
import { snapshotIn, type TaskSnapshot } from '../machines/task-snapshot.ts'

/**
 * An actor with a parent cannot be stopped from outside: it stops itself at this event, which is not part of its chart.
 */
const releaseEvent = 'release'

/** The lifecycle chart as the logic of an actor. */
export const taskActorLogic = taskLogic((context) => context)

/** The same for a task that another process works on: each event carries the name, attempt and run of the task. */
export const watchedTaskLogic = taskLogic((context, { type: _type, ...data }) => ({ ...context, ...data }))

/**
 * The supervisor's chart, ignoring the end of its children: XState caches the transitions of a state per event type,
 * and the event type of a child's end contains the child's id, so every task would leave some hundred bytes behind.
 */
export const supervisorLogic = withTransition(supervisorMachine, (snapshot: never, event, scope) =>
  event.type.startsWith('xstate.done.actor.')
    ? snapshot
    : supervisorMachine.transition(snapshot, event as never, scope),
)

type RunSnapshot = Snapshot<undefined> & { value: RunStatus; context: { taskId: string; run: number } }
type RunInput = { taskId: string; run: number }

/** A run as an actor: small enough to be created many thousand times a second. */
export const runActorLogic: ActorLogic<RunSnapshot, { type: 'end' | 'close' }, RunInput> & { config: object } = {
  // Inspectors read the chart to draw from here.
  config: runMachine.config,
  transition(snapshot, event) {
    const value = runEdges[snapshot.value]?.[event.type] as RunStatus | undefined
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

/** Stops the actor of a task; in a final state of the chart it has stopped by itself. */
export function releaseActor(task: AnyActorRef): void {
  if ((task.getSnapshot() as { status: string }).status === 'active') task.send({ type: releaseEvent })
}

/**
 * The chart with its own table as its transition: the chart is derived from the table, and has neither guards nor actions. XState's
 * algorithm for charts of any kind, with its sets of nested and parallel states, takes a hundred times as long.
 */
function taskLogic(contextAfter: (context: TaskMachineContext, event: { type: string }) => TaskMachineContext) {
  return Object.assign(
    withTransition(taskMachine, (snapshot: TaskSnapshot, event: { type: string }) => {
      if (event.type === releaseEvent) return stopped(snapshot)
      const status = nextStatus(snapshot.value, event.type as TaskEventName) ?? snapshot.value
      return snapshotIn(status, contextAfter(snapshot.context, event))
    }),
    { restoreSnapshot: (snapshot: TaskSnapshot) => snapshot },
  )
}

function stopped(snapshot: TaskSnapshot): TaskSnapshot {
  return { ...snapshot, status: 'done', output: undefined } as unknown as TaskSnapshot
}

/** A machine with another `transition`. */
function withTransition<M extends object, S>(
  machine: M,
  transition: (snapshot: S, event: { type: string }, scope: never) => unknown,
): M {
  return Object.assign(Object.create(Object.getPrototypeOf(machine) as object) as object, machine, {
    transition,
  }) as unknown as M
}
