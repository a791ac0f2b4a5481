// Ends what calls of dead engines left running, as far as it can be seen from here.
import { sightOf } from '../core/process-place.ts'
import type { CallRecord } from '../entities/call.ts'
import { processGroupOf, reclaimAll } from './process-group.ts'
import { markOf } from './process-mark.ts'
import type { CommandTrace } from './process-search.ts'

/**
 * Ends the commands that calls left running when their process died. Resolves with the calls that may own processes which still
 * run; rejects when a process provably belongs to a call and cannot be ended.
 */
export async function reclaimCalls(
  calls: readonly CallRecord[],
  { onOneHost }: { onOneHost: boolean },
): Promise<CallRecord[]> {
  const left: CallRecord[] = []
  const seen: Array<{ call: CallRecord; trace: CommandTrace }> = []
  for (const call of calls) {
    const group = processGroupOf(call.details)
    const sight = group === undefined ? 'seen' : sightOf(group.place, onOneHost)
    if (sight === 'unseen') left.push(call)
    // The details of a failed call may no longer name its process group; its processes still carry its id.
    if (sight === 'seen') seen.push({ call, trace: group ?? { mark: markOf(call.id) } })
  }
  const outcomes = await reclaimAll(seen.map(({ trace }) => trace))
  return [...left, ...seen.filter((_each, index) => outcomes[index] === 'unproven').map(({ call }) => call)]
}
