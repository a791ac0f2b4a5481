// What a definition sees while it decides: its own actor, its actors and their system, as stand-ins that do nothing. A macrostep is pure, so
// nothing that a guard or an `assign` does to one of them has an effect.
import type { AnyActorRef, AnyStateMachine } from 'xstate'

/** What stands for an actor, with the id of that. */
export type StandIn = AnyActorRef & { readonly standsFor: string }

const nowhere = { unsubscribe(): void {} }

/** A stand-in for an actor. `send`: what an action does with it; by default nothing. */
export function standIn(
  id: string,
  system: unknown,
  {
    parent,
    src,
    getSnapshot = () => ({ status: 'active' }),
    send = () => {},
  }: {
    parent?: unknown
    src?: unknown
    getSnapshot?: () => unknown
    send?: (event: never) => void
  } = {},
): StandIn {
  const self = {
    standsFor: id,
    id,
    sessionId: id,
    src,
    system,
    systemId: undefined,
    _parent: parent,
    send,
    _send: send,
    start: () => self,
    stop: () => self,
    getSnapshot,
    getPersistedSnapshot: getSnapshot,
    subscribe: () => nowhere,
    on: () => nowhere,
    toJSON: () => ({ xstate$$type: 1, id }),
    ref: undefined as unknown,
  }
  self.ref = self
  return self as unknown as StandIn
}

export function isStandIn(actor: unknown): actor is StandIn {
  return typeof actor === 'object' && actor !== null && 'standsFor' in actor
}

/** True for anything that XState would take as an actor. */
export function isActor(value: unknown): value is AnyActorRef {
  return typeof value === 'object' && value !== null && 'sessionId' in value && 'send' in value
}

/**
 * A system for one macrostep: ids without a name come from the counter of the machine, so that they are the same wherever it is computed, and
 * a `systemId` is known if one of these actors has it.
 */
export function systemOf(nextId: () => string, named: Map<string, unknown>): object {
  return {
    _bookId: nextId,
    _register: (id: string) => id,
    _unregister() {},
    _set: (systemId: string, actor: unknown) => named.set(systemId, actor),
    _relay() {},
    _sendInspectionEvent() {},
    _logger() {},
    _clock: { setTimeout() {}, clearTimeout() {} },
    _snapshot: { _scheduledEvents: {} },
    scheduler: { schedule() {}, cancel() {}, cancelAll() {} },
    inspect: () => nowhere,
    getSnapshot: () => ({ _scheduledEvents: {} }),
    getAll: () => Object.fromEntries(named),
    start() {},
    get(systemId: string): unknown {
      if (named.has(systemId)) return named.get(systemId)
      throw new Error(
        `The machine has no actor with the systemId "${systemId}". A durable machine finds those that it has invoked or spawned itself; other tasks are reached with taskRef(id).`,
      )
    },
  }
}

/** The logic that a machine calls by this name. */
export function logicNamed(machine: AnyStateMachine, src: string): unknown {
  const [, index, stateId] = /^xstate\.invoke\.(\d+)\.(.*)$/s.exec(src) ?? []
  if (stateId === undefined) return (machine.implementations.actors as Record<string, unknown>)[src]
  const node = machine.getStateNodeById(stateId)
  const { invoke } = node.config
  return (Array.isArray(invoke) ? invoke[Number(index)] : invoke)?.src
}
