// Putting away: the conversation of a task becomes observations, each under an id that follows from it, so that to archive it twice adds
// nothing; or a branch is closed with all below it, read as ever, and takes nothing new.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { type Conversation, conversationOf } from '../entities/conversation.ts'
import { mainBranch } from '../entities/memory.ts'
import { isTrusted } from '../entities/source.ts'
import { taskIdSchema } from '../entities/task-fields.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op } from '../ledger/ledger.ts'
import { setBranchStatus } from '../steps/branch.ts'
import { answerObserved, callObserved, type Observed, toolObserved } from '../steps/observe-work.ts'
import { sourceIn, sourceOf } from '../steps/source.ts'
import { branchOfTeam, openBranch, ownBranch, standingOf } from './branch-scope.ts'
import { consolidatePending } from './consolidate-session.ts'
import { deliberate } from './deliberate.ts'
import { writerAt } from './fact-writes.ts'
import type { MemoryHost } from './memory-host.ts'
import { observe } from './record-observation.ts'
import { branchSchema } from './request-fields.ts'

/** A line of a conversation that the ledger does not hold, as chat messages have it: with `content`, perhaps with a `name`. */
const chatLineSchema = z.looseObject({ role: z.string() })
type ChatLine = z.output<typeof chatLineSchema>

export const archiveSchema = z
  .strictObject({
    taskId: taskIdSchema.optional().describe('The task whose conversation is kept.'),
    context: z
      .array(chatLineSchema)
      .max(100_000)
      .optional()
      .describe('The conversation as chat messages, of a task that the ledger does not know.'),
    branch: branchSchema.optional().describe('The branch that is closed, with all below it.'),
  })
  .refine(({ taskId, branch }) => (taskId === undefined) !== (branch === undefined), {
    message: 'expected exactly one of `taskId` and `branch`',
  })
  .refine(({ context, branch }) => context === undefined || branch === undefined, {
    path: ['context'],
    message: 'a branch has no conversation: leave it out',
  })

/**
 * Calls as `tool_use` or `error`, the last answer as `insight`. `context` is looked at for a task that the ledger does not know.
 * Returns how many observations were new. @throws ErrandError FORBIDDEN
 */
export async function archiveTask(
  host: MemoryHost,
  caller: Caller,
  taskId: string,
  context: readonly ChatLine[],
): Promise<number> {
  const ctx = await host.stepContext()
  const writer = writerAt(ctx, host)
  return host.step({
    name: 'archive task',
    *decide(tx): Op<number> {
      const task = yield* tx.task.get(taskId)
      const kept =
        task === undefined
          ? keptOfChat(taskId, context)
          : keptOf(conversationOf(yield* tx.message.list(taskId), yield* tx.call.list(taskId, ['call'])))
      if (kept.length === 0) return 0
      // A conversation that is given along is what the caller says; one of the ledger is what its model and its tools said.
      const isGiven = task === undefined
      const sources = {
        model: isGiven ? yield* sourceOf(tx, caller) : yield* sourceIn(tx, 'model', taskId),
        tool: isGiven ? yield* sourceOf(tx, caller) : yield* sourceIn(tx, 'tool', taskId),
      }
      const { branch: known, team, agentId } = yield* standingOf(tx, taskId)
      const own = isTrusted(sources.model) ? known : yield* ownBranch(tx, taskId, ctx)
      const branch = yield* openBranch(tx, own, sources.model)
      if (caller.taskId !== undefined) yield* branchOfTeam(tx, caller, branch)
      const whose = { sessionId: taskId, branch, taskId: team?.taskId ?? taskId, agentId }
      let added = 0
      for (const { by, ...each } of kept) {
        if ((yield* observe(tx, writer, { ...each, ...whose, statedBy: sources[by] })).isNew) added++
      }
      return added
    },
  })
}

/** The same, under the same ids, as where they are observed while the task works. */
function keptOf({ steps }: Conversation): Observed[] {
  const ended = steps
    .flatMap(({ calls }) => calls.flatMap(({ entry }) => entry ?? []))
    .filter(({ status }) => status === 'completed' || status === 'failed')
  const answer = steps.findLast(({ calls, content }) => calls.length === 0 && content.trim() !== '')
  return [
    ...ended.map(callObserved),
    ...(answer === undefined ? [] : [answerObserved(answer.messageId, answer.content)]),
  ]
}

function keptOfChat(taskId: string, context: readonly ChatLine[]): Observed[] {
  const said = context.map(({ role, name, content }, position) => ({
    id: `${taskId}-${position}`,
    role,
    name: typeof name === 'string' ? name : 'a tool',
    text: typeof content === 'string' ? content : (JSON.stringify(content) ?? ''),
  }))
  const answer = said.findLast(({ role, text }) => role === 'assistant' && text.trim() !== '')
  return [
    ...said
      .filter(({ role }) => role === 'tool')
      .map(({ id, name, text }) => toolObserved(id, name, text, text.startsWith('Error: '))),
    ...(answer === undefined ? [] : [answerObserved(answer.id, answer.text)]),
  ]
}

/** Names of the branches that are closed now, itself first. What was observed on them is consolidated before. @throws ErrandError INVALID_INPUT for `main` */
export function archiveBranch(host: MemoryHost, caller: Caller, name: string): Promise<string[]> {
  return deliberate(host, 'archive branch', function* (tx, d): Op<string[]> {
    const closed: string[] = []
    const open = [yield* branchOfTeam(tx, caller, name)]
    for (let branch = open.shift(); branch !== undefined; branch = open.shift()) {
      if (branch.name !== mainBranch && branch.status !== 'archived') {
        yield* consolidatePending(tx, d, { branch: branch.name, trigger: 'archive' })
      }
      yield* setBranchStatus(tx, branch, 'archived', d.ctx)
      closed.push(branch.name)
      const parent = branch.name
      open.push(...(yield* everyRow((after, limit) => tx.branch.list({ parent }, limit, after))))
    }
    return closed
  })
}
