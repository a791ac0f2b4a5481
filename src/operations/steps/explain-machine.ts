// The part of `why` that concerns a machine that rests: the state that it is in, and everything that would move it.
import { isoTime } from '../../core/clock.ts'
import type { MachineDetails } from '../../entities/machine.ts'
import { stateText } from '../../entities/machine-view.ts'
import { listOf } from './explain-other-tasks.ts'

/** @param tasks the names of the tasks of its actors that have not ended */
export function machineWaitText({ state, accepts, next }: MachineDetails, tasks: readonly string[]): string {
  const awaited = [
    accepts.length > 0 && `for ${eventsText(accepts)}`,
    next !== null && `until ${isoTime(next.dueAt)} (${next.event})`,
    tasks.length > 0 && `for ${listOf(tasks)}`,
  ].filter((each) => each !== false)
  const states = stateText(state.value)
  const place = states === '' ? 'Its machine has no states' : `It is in "${states}"`
  if (awaited.length === 0) return `${place}, and no event moves it: \`cancel\` ends it.`
  return `${place} and waits ${awaited.join(', or ')}.${accepts.length > 0 ? ' `sendEvent` sends it.' : ''}`
}

function eventsText(accepts: readonly string[]): string {
  return accepts.includes('*') ? 'any event' : `the event ${listOf(accepts, ' or ')}`
}
