// Who writes to a claimed task: `--as` and `--fence`, with refusals in the words of the command line. Whoever does not say
// the number of its claim is not given it from the ledger: it would let a former owner write as the present one.
import type { ClaimToken } from '../../api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { type FlagsOf, misuse, texts, wholeNumber } from './arguments.ts'
import type { CommandIo } from './io.ts'
import { rewording, type Wordings } from './rewording.ts'
import { shortId, taskLabel } from './task-words.ts'

export const ownerOptions = texts('as', 'fence')

export type OwnerFlags = FlagsOf<typeof ownerOptions>

/** @throws ErrandError INVALID_INPUT when nobody is named. */
export function requireOwnerName(io: CommandIo, flags: Pick<OwnerFlags, 'as'>): string {
  const owner = ownerName(io, flags)
  if (owner !== undefined) return owner
  throw misuse(
    'Say who you are: --as NAME, or ERRAND_OWNER=NAME in the environment. Any name that is only yours will do.',
  )
}

function ownerName(io: CommandIo, flags: Pick<OwnerFlags, 'as'>): string | undefined {
  const owner = flags.as ?? io.env['ERRAND_OWNER']
  if (flags.as !== undefined && flags.as.trim() === '') throw misuse('--as takes the name of an owner, got "".')
  return owner === undefined || owner.trim() === '' ? undefined : owner
}

/** For the verbs that only owners call. */
export function quoteOf(io: CommandIo, flags: OwnerFlags): ClaimToken {
  return { owner: requireOwnerName(io, flags), fence: fenceOf(flags) }
}

/** For the verbs that a task without an owner takes from anybody: the environment counts only where there was a claim. */
export function quoteIfClaimed(io: CommandIo, flags: OwnerFlags, task: Task): ClaimToken {
  const fence = fenceOf(flags)
  const owner = ownerName(io, flags)
  if (owner === undefined && flags.fence !== undefined)
    throw misuse('--fence is quoted together with its owner: --as NAME, or ERRAND_OWNER=NAME in the environment.')
  if (owner === undefined || (flags.as === undefined && flags.fence === undefined && task.fence === 0)) return {}
  return { owner, fence }
}

function fenceOf({ fence }: OwnerFlags): number | undefined {
  return fence === undefined ? undefined : wholeNumber('fence', fence, 1)
}

/** What `write` resolves to; the engine's refusals of a claim say which flag would help. */
export async function asOwner<T>(task: Task, quote: ClaimToken, write: () => Promise<T>): Promise<T> {
  const wordings: Wordings = {
    NOT_OWNER: (details) => notOwnerWords(task, quote, details),
    STALE_CLAIM: (details) => staleWords(task, quote, details),
  }
  return await rewording(wordings, write)
}

function notOwnerWords(task: Task, { owner }: ClaimToken, details: Record<string, unknown>): string {
  const is = `${taskLabel(task)} ${isSettled(task.status) ? 'was' : 'is'} ${String(details['owner'])}'s`
  return owner === undefined
    ? `${is}: --as NAME (or ERRAND_OWNER) says who writes. "errand pause" and "errand cancel" are anybody's.`
    : `${is}, not ${owner}'s. "errand pause" and "errand cancel" are anybody's.`
}

function staleWords(task: Task, { owner, fence }: ClaimToken, details: Record<string, unknown>): string {
  if (fence === undefined && details['owner'] === owner) {
    return `The claim of ${owner} on ${taskLabel(task)} has a lease, so its number must be quoted: --fence N, as "errand claim" printed it.`
  }
  const now =
    typeof details['owner'] === 'string'
      ? `it is ${details['owner']}'s now (claim ${String(details['fence'])})`
      : "it was released or its lease is over, and it is nobody's now"
  const claim = (how: string) =>
    isSettled(task.status) ? '' : ` "errand claim ${shortId(task.id)}" asks for it${how}.`
  if (fence !== undefined && fence <= Number(details['fence']))
    return `The claim of ${owner} (number ${fence}) on ${taskLabel(task)} does not hold any more: ${now}.${claim(' anew')}`
  // Without a number, or with one that was never given out, nobody knows that there ever was such a claim.
  const latest =
    fence === undefined ? "it is nobody's now" : `its latest claim has the number ${String(details['fence'])}`
  const why = details['fence'] === 0 ? 'it was never claimed' : latest
  return `${owner} has no such claim on ${taskLabel(task)}: ${why}.${claim('')}`
}
