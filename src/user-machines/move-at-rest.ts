// An event for a machine that rests, outside of any run: when nothing has to be done but to store what it makes of the machine.
import type { RestingMachine, RestingMove } from '../entities/machine.ts'
import type { Definition } from './definition.ts'
import { advance, type MachineScope } from './macrostep.ts'
import { sendsOf } from './sends.ts'

/** Undefined for an event that needs a run, as does one that the definition fails with: the run fails the task. */
export function moveAtRest(
  root: Definition,
  { taskId, place, state, event, now }: RestingMachine,
): RestingMove | undefined {
  const isBusy = Object.values(state.actors).some(({ ended }) => !ended)
  if (isBusy || state.ask !== undefined || state.queue.length > 0 || state.effects.length > 0) return undefined
  try {
    const definition = root.at(place?.path ?? [])
    if (definition.version !== state.definition) return undefined
    const scope: MachineScope = {
      machine: definition.machine,
      inlineNames: definition.inlineNames,
      id: place?.id ?? taskId,
      isChild: place !== undefined,
      now,
      snapshotOf: (_id, { last }) => last,
    }
    const { state: next, sends, emitted, logged } = advance(scope, state, event)
    const starts = Object.entries(next.actors).some(([id, { gen }]) => state.actors[id]?.gen !== gen)
    if (starts || next.status === 'done' || next.queue.length > 0 || next.effects.length > 0) return undefined
    const { accepts, question } = definition.shown(scope, next)
    if (question !== null) return undefined
    const targets = sendsOf(place, next, sends, event.type).flatMap((send) => {
      const target = 'actor' in send ? next.actors[send.actor]?.taskId : send.taskId
      return target === undefined ? [] : [{ taskId: target, event: send.event }]
    })
    return { state: next, accepts, sends: targets, emitted, logged }
  } catch {
    return undefined
  }
}
