// The board's refusals of a claim, in the flags of the command line.
import { rewording, type Wordings } from './rewording.ts'

interface Writer {
  as: string | undefined
  fence: number | undefined
}

/** What `write` resolves to; what it refuses because of who writes says which flag would help. `ref` is the task as it was named. */
export async function inFlags<T>(ref: string, writer: Writer, write: () => Promise<T>): Promise<T> {
  const wordings: Wordings = {
    NOT_OWNER: (details) => notOwnerWords(ref, writer, details),
    STALE_CLAIM: (details) => staleWords(ref, writer, details),
  }
  return await rewording(wordings, write)
}

function notOwnerWords(ref: string, { as }: Writer, { owner }: Record<string, unknown>): string {
  const is = `Task ${plain(ref)} is ${String(owner)}'s`
  return as === undefined ? `${is}: --as NAME (or ERRAND_AGENT) says who writes.` : `${is}, not ${as}'s.`
}

function staleWords(ref: string, { as, fence }: Writer, { owner }: Record<string, unknown>): string {
  if (fence === undefined && owner === as)
    return `The claim of ${as} on task ${plain(ref)} has a lease, so its number must be quoted: --fence N, as "errand board claim" printed it.`
  const which = fence === undefined ? '' : ` (number ${fence})`
  const now =
    typeof owner === 'string' && owner !== as ? `it is ${owner}'s now` : 'it was another, or its lease is over'
  return `The claim of ${as}${which} on task ${plain(ref)} does not hold: ${now}. "errand board log ${plain(ref)}" shows all of them.`
}

function plain(ref: string): string {
  return ref.trim().replace(/^#/, '')
}
