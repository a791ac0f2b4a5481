// Actions of a machine that are functions: each is a journaled call, made when its macrostep is in the ledger.
import type { CallContext, CallOptions } from '../entities/call-options.ts'
import type { Run } from '../entities/executor.ts'
import type { MachineEffect, MachineEvent, MachineState, QueuedMachineEvent } from '../entities/machine.ts'
import { madeIn } from './call-of.ts'
import type { Definition } from './definition.ts'
import { imageOf, revived } from './machine-json.ts'
import { type MachineScope, snapshotOf } from './macrostep.ts'
import { standIn, systemOf } from './stand-ins.ts'

type ActionEffect = Extract<MachineEffect, { action: string }>

/**
 * Makes the call, or finds it in the journal. Resolves to what the action has sent, which is recorded as its result.
 * @throws what the action throws, in the form of a recorded call
 */
export async function performAction(
  definition: Definition,
  run: Run,
  state: MachineState,
  effect: ActionEffect,
  { key, scope }: { key: string; scope: MachineScope },
): Promise<QueuedMachineEvent[]> {
  const name = effect.action
  const options: CallOptions = { ...definition.callOptions(name), key }
  const fn = async (params: unknown, call: CallContext): Promise<QueuedMachineEvent[]> => {
    const sent: QueuedMachineEvent[] = []
    const given = argumentsOf(state, effect, scope, sent)
    madeIn(given.self, call)
    await definition.action(name)(given, params)
    return sent
  }
  return effect.params === undefined
    ? run.call(name, (_none, call) => fn(undefined, call), options)
    : run.call(name, effect.params, fn, options)
}

/** What XState passes to an action. The actors in it collect what is sent to them. */
function argumentsOf(
  state: MachineState,
  { event, context = state.context }: ActionEffect,
  scope: MachineScope,
  sent: QueuedMachineEvent[],
): { self: object } & Record<string, unknown> {
  const named = new Map<string, unknown>()
  const system = systemOf(() => '', named)
  const sending =
    (to?: string) =>
    (given: MachineEvent): void => {
      const image = imageOf(given, 'an event', 'event') as MachineEvent
      sent.push(to === undefined ? { event: image } : { event: image, to })
    }
  const parent = scope.isChild ? standIn('#parent', system, { send: sending('#parent') }) : undefined
  const self = standIn(scope.id, system, { parent, send: sending(), getSnapshot: () => snapshotOf(scope, state) })
  const actors = new Map(
    Object.entries(state.actors).map(([id, actor]) => {
      const getSnapshot = () => scope.snapshotOf(id, actor)
      const stand = standIn(id, system, { parent: self, src: actor.src, send: sending(id), getSnapshot })
      if (actor.systemId !== undefined) named.set(actor.systemId, stand)
      return [id, stand] as const
    }),
  )
  return {
    context: revived(context, new Map<string, unknown>([[scope.id, self], ['#parent', parent], ...actors])),
    event,
    self,
    system,
  }
}
