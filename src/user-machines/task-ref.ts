// A task as the target of `sendTo`.
import type { AnyActorRef } from 'xstate'
import { standIn } from './stand-ins.ts'

const taskMarker = Symbol.for('errand.machine-task')

/**
 * Another task as the target of `sendTo` in a durable machine. It gets the event as a signal, in the transaction of the macrostep; if it has
 * settled, nothing is sent, as to an actor that was stopped.
 *
 * @example
 * actions: sendTo(({ context }) => taskRef(context.shipmentId), { type: 'ORDER_PAID' })
 */
export function taskRef(taskId: string): AnyActorRef {
  const send = (): never => {
    throw new Error(
      'A taskRef has no send of its own: use it as the target of sendTo, whose event is stored with the macrostep.',
    )
  }
  return Object.assign(standIn(taskId, undefined, { send }), { [taskMarker]: true })
}

export function isTaskRef(actor: unknown): actor is AnyActorRef {
  return typeof actor === 'object' && actor !== null && taskMarker in actor
}
