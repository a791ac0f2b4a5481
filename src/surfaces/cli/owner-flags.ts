// The writer of a claimed task: `--as` and `--fence`, with refusals that name these flags. The number of a claim is never filled
// in from the ledger: a former owner could then write as the current one.
import type { ClaimToken } from '../../engine/engine-api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { type FlagsOf, misuse, texts, wholeNumber } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'
import { shellCommand } from '../terminal/shell-quote.ts'
import { taskLabel, taskNumber } from '../terminal/task-labels.ts'
import { rewording, type Wordings } from './cli-errors.ts'

export const ownerOptions = texts('as', 'fence')

export type OwnerFlags = FlagsOf<typeof ownerOptions>

/** A kind of writer: its noun in messages, and the variables that may name one, in order of precedence. */
interface WriterKind {
  noun: string
  variables: readonly [string, ...string[]]
}

const owners: WriterKind = { noun: 'an owner', variables: ['ERRAND_OWNER'] }
export const members: WriterKind = { noun: 'an agent or a person', variables: ['ERRAND_AGENT', 'ERRAND_OWNER'] }

/** The writer: --as, else from the environment. @throws ErrandError INVALID_INPUT for an empty --as. */
export function writerName(io: CommandIo, { as }: OwnerFlags, { noun, variables }: WriterKind): string | undefined {
  if (as !== undefined && as.trim() === '') throw misuse(`--as takes the name of ${noun}, got "".`)
  return [as, ...variables.map((variable) => io.env[variable])].map((name) => name?.trim()).find(Boolean)
}

/** @throws ErrandError INVALID_INPUT when there is no name. */
export function requireWriterName(io: CommandIo, flags: OwnerFlags, kind = owners): string {
  const name = writerName(io, flags, kind)
  if (name !== undefined) return name
  const [variable] = kind.variables
  throw misuse(`Your name is missing: give --as NAME, or set ${variable}=NAME. Any name that only you use will do.`)
}

/** The number of a claim. @throws ErrandError INVALID_INPUT for a number without a name. */
export function fenceOf({ fence }: OwnerFlags, name: string | undefined, { variables: [variable] } = owners) {
  if (fence === undefined) return undefined
  const number = wholeNumber('fence', fence, 1)
  if (name !== undefined) return number
  throw misuse(`--fence needs the name of the owner: give --as NAME, or set ${variable}=NAME.`)
}

/** The claim for verbs that only owners may use. */
export function claimTokenOf(io: CommandIo, flags: OwnerFlags): ClaimToken {
  const owner = requireWriterName(io, flags)
  return { owner, fence: fenceOf(flags, owner) }
}

/** The claim for verbs that also work on a task without an owner: the environment counts only if the task was ever claimed. */
export function claimTokenIfClaimed(io: CommandIo, flags: OwnerFlags, task: Task): ClaimToken {
  const owner = writerName(io, flags, owners)
  const fence = fenceOf(flags, owner)
  if (owner === undefined || (flags.as === undefined && flags.fence === undefined && task.fence === 0)) return {}
  return { owner, fence }
}

/** Returns the result of `write`; the engine's refusals of a claim name the flag that would help. */
export async function asOwner<T>(task: Task, token: ClaimToken, write: () => Promise<T>): Promise<T> {
  const wordings: Wordings = {
    NOT_OWNER: (details) => notOwnerText(task, token, details),
    STALE_CLAIM: (details) => staleText(task, token, details),
  }
  return await rewording(wordings, write)
}

function notOwnerText(task: Task, { owner }: ClaimToken, details: Record<string, unknown>): string {
  const claimed = `${taskLabel(task)} ${isSettled(task.status) ? 'was' : 'is'} claimed by ${String(details['owner'])}`
  return owner === undefined
    ? `${claimed}: give your name with --as NAME or ERRAND_OWNER. "errand pause" and "errand cancel" need no claim.`
    : `${claimed}, not by ${owner}. "errand pause" and "errand cancel" need no claim.`
}

function staleText(task: Task, { owner, fence }: ClaimToken, details: Record<string, unknown>): string {
  if (fence === undefined && details['owner'] === owner) {
    return `The claim of ${owner} on ${taskLabel(task)} has a lease, so its number is required: --fence N, as "errand claim" printed it.`
  }
  const now =
    typeof details['owner'] === 'string'
      ? `${details['owner']} has claimed it since (claim ${String(details['fence'])})`
      : 'it was released or its lease is over, and the task is unclaimed'
  const claim = (how: string) =>
    isSettled(task.status) ? '' : ` "${shellCommand('errand', 'claim', taskNumber(task))}" claims it${how}.`
  if (fence !== undefined && fence <= Number(details['fence']))
    return `The claim of ${owner} (number ${fence}) on ${taskLabel(task)} is no longer valid: ${now}.${claim(' again')}`
  // Without a number, or with a number that was never given out, there may never have been such a claim.
  const latest =
    fence === undefined ? 'the task is unclaimed' : `its latest claim has the number ${String(details['fence'])}`
  const why = details['fence'] === 0 ? 'it was never claimed' : latest
  return `${owner} has no such claim on ${taskLabel(task)}: ${why}.${claim('')}`
}
