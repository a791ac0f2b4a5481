// Where the sends of a macrostep go.
import type { MachineEvent, MachinePlace, MachineState } from '../entities/machine.ts'
import type { MachineChange } from '../operations/machine-run.ts'
import type { Macrostep } from './macrostep.ts'

/** With the snapshot that a parent gets which has asked for them. `event`: what the machine has consumed; absent: it has not moved. */
export function sendsOf(
  place: (MachinePlace & { parentId: string }) | undefined,
  { status, value, context }: MachineState,
  sends: Macrostep['sends'],
  event: string | undefined,
): MachineChange['sends'] {
  const targets = sends.map(({ to, event: sent, isTask }): MachineChange['sends'][number] => {
    if (isTask) return { taskId: to, event: sent }
    return to === '#parent' && place !== undefined
      ? { taskId: place.parentId, event: sent }
      : { actor: to, event: sent }
  })
  if (!place?.sync || event === undefined || status !== 'active') return targets
  const shown: MachineEvent = { type: `xstate.snapshot.${place.id}`, snapshot: { status, value, context } }
  return [...targets, { taskId: place.parentId, event: shown }]
}
