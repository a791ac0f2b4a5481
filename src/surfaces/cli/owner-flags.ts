// Who writes to a claimed task: `--as` and `--fence`, with refusals in the words of the command line. Whoever does not say
// the number of its claim is not given it from the ledger: it would let a former owner write as the present one.
import type { ClaimToken } from '../../engine-api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { type FlagsOf, misuse, texts, wholeNumber } from '../../terminal/arguments.ts'
import type { CommandIo } from '../../terminal/io.ts'
import { shortId, taskLabel } from '../../terminal/task-labels.ts'
import { rewording, type Wordings } from './rewording.ts'

export const ownerOptions = texts('as', 'fence')

export type OwnerFlags = FlagsOf<typeof ownerOptions>

/** A kind of writer: what one is called, and the variables that may name one, in the order in which they count. */
interface WriterKind {
  noun: string
  variables: readonly [string, ...string[]]
}

const owners: WriterKind = { noun: 'an owner', variables: ['ERRAND_OWNER'] }
export const members: WriterKind = { noun: 'an agent or a person', variables: ['ERRAND_AGENT', 'ERRAND_OWNER'] }

/** Who writes: --as, else the environment. @throws ErrandError INVALID_INPUT for an empty --as. */
export function writerName(io: CommandIo, { as }: OwnerFlags, { noun, variables }: WriterKind): string | undefined {
  if (as !== undefined && as.trim() === '') throw misuse(`--as takes the name of ${noun}, got "".`)
  return [as, ...variables.map((variable) => io.env[variable])].map((name) => name?.trim()).find(Boolean)
}

/** @throws ErrandError INVALID_INPUT when nobody is named. */
export function requireWriterName(io: CommandIo, flags: OwnerFlags, kind = owners): string {
  const name = writerName(io, flags, kind)
  if (name !== undefined) return name
  const [variable] = kind.variables
  throw misuse(
    `Say who you are: --as NAME, or ${variable}=NAME in the environment. Any name that is only yours will do.`,
  )
}

/** The number of a claim. @throws ErrandError INVALID_INPUT for one that nobody is said to have. */
export function fenceOf({ fence }: OwnerFlags, name: string | undefined, { variables: [variable] } = owners) {
  if (fence === undefined) return undefined
  const number = wholeNumber('fence', fence, 1)
  if (name !== undefined) return number
  throw misuse(`--fence is quoted together with its owner: --as NAME, or ${variable}=NAME in the environment.`)
}

/** For the verbs that only owners call. */
export function claimTokenOf(io: CommandIo, flags: OwnerFlags): ClaimToken {
  const owner = requireWriterName(io, flags)
  return { owner, fence: fenceOf(flags, owner) }
}

/** For the verbs that a task without an owner takes from anybody: the environment counts only where there was a claim. */
export function claimTokenIfClaimed(io: CommandIo, flags: OwnerFlags, task: Task): ClaimToken {
  const owner = writerName(io, flags, owners)
  const fence = fenceOf(flags, owner)
  if (owner === undefined || (flags.as === undefined && flags.fence === undefined && task.fence === 0)) return {}
  return { owner, fence }
}

/** What `write` resolves to; the engine's refusals of a claim say which flag would help. */
export async function asOwner<T>(task: Task, quote: ClaimToken, write: () => Promise<T>): Promise<T> {
  const wordings: Wordings = {
    NOT_OWNER: (details) => notOwnerText(task, quote, details),
    STALE_CLAIM: (details) => staleText(task, quote, details),
  }
  return await rewording(wordings, write)
}

function notOwnerText(task: Task, { owner }: ClaimToken, details: Record<string, unknown>): string {
  const is = `${taskLabel(task)} ${isSettled(task.status) ? 'was' : 'is'} ${String(details['owner'])}'s`
  return owner === undefined
    ? `${is}: --as NAME (or ERRAND_OWNER) says who writes. "errand pause" and "errand cancel" are anybody's.`
    : `${is}, not ${owner}'s. "errand pause" and "errand cancel" are anybody's.`
}

function staleText(task: Task, { owner, fence }: ClaimToken, details: Record<string, unknown>): string {
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
