// The message that a parent receives about a child created with `notifyParent`: how the child ended, once, in the transaction of that end.
// An agent reads it like any other message before its next step, also after a crash. It answers no question.
import { z } from 'zod'
import { clipped, storableText } from '../../core/storable-text.ts'
import { failureSuffix, isSettled, type TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import type { StepContext } from './step-context.ts'
import { wakeByMessage } from './wait.ts'
import { writeLine } from './write-message.ts'

/** Sends the parent of a child that has just settled a message about it. A parent that has ended receives none. */
export function* notifyParent(tx: Tx, child: TaskRecord, ctx: StepContext): Op<void> {
  if (!child.policy.notifyParent || child.parentId === null) return
  const parent = yield* tx.task.get(child.parentId)
  if (!parent || parent.group || parent.deletedAt !== null || isSettled(parent.status)) return
  const content = storableText(outcomeText(child))
  yield* writeLine(tx, parent, { id: lineId(child), role: 'user', content, delivery: 'steer' }, ctx)
  yield* wakeByMessage(tx, parent, 'steer', ctx)
}

/** Each attempt ends once, so there is one message for it; the table would refuse a second. */
function lineId({ id, attempt }: TaskRecord): string {
  return `${id.replace(/^task-/, 'msg-')}-told-${attempt}`
}

/** The maximum of characters of each quoted text; of the output of a command, the last ones. */
const maxQuoteLength = 2_000
const maxNameLength = 200

/** `[background] task-… "name" completed: …`, with its outcome below. */
function outcomeText(child: TaskRecord): string {
  const name = clipped(child.name.replaceAll(/\s+/g, ' '), maxNameLength + 1)
  return `[background] ${child.id} "${name}" ${endingText(child)}`
}

function endingText({ status, statusReason, result, error }: TaskRecord): string {
  if (status === 'canceled')
    return `was canceled${statusReason === null ? '' : `: ${clipped(statusReason, maxQuoteLength + 1)}`}`
  const command = commandText(status === 'failed' ? error?.details : result)
  if (command !== undefined) return `${status}: ${command}`
  if (status === 'failed')
    return `failed${failureSuffix(error === null ? null : clipped(error.message, maxQuoteLength + 1))}`
  if (result === null || result === undefined) return 'completed'
  return `completed: ${clipped(typeof result === 'string' ? result : JSON.stringify(result), maxQuoteLength + 1)}`
}

/** What a command returns, as a result or as the details of its failure. */
const commandEndSchema = z.object({
  exitCode: z.number(),
  signal: z.string().nullable().optional(),
  stdout: z.string(),
  stderr: z.string(),
})

/** Undefined for an outcome that is not that of a command. */
function commandText(outcome: unknown): string | undefined {
  const { data } = commandEndSchema.safeParse(outcome)
  if (data === undefined) return undefined
  const ended = data.signal ? `ended by ${data.signal}` : `exit ${data.exitCode}`
  const printed = (['stdout', 'stderr'] as const).filter((name) => data[name].trim() !== '')
  if (printed.length === 0) return `${ended}, no output`
  return [ended, ...printed.map((name) => `${name}:\n${endOf(data[name].trimEnd(), maxQuoteLength)}`)].join('\n')
}

function endOf(text: string, limit: number): string {
  return text.length > limit ? `…${text.slice(-limit).replace(/^[\uDC00-\uDFFF]/, '')}` : text
}
