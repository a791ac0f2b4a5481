// Archives the conversation of a task as observations, or a branch with all below it. Ids of the observations are derived from the
// conversation, so archiving it twice adds nothing. An archived branch can be read, and takes nothing new.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { once } from '../core/once.ts'
import { type Conversation, conversationOf } from '../entities/conversation.ts'
import { mainBranch } from '../entities/memory.ts'
import { isTrusted } from '../entities/source.ts'
import { taskIdSchema } from '../entities/task-fields.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op } from '../ledger/ledger.ts'
import { sourceIn, sourceOf } from '../operations/steps/source.ts'
import { branchOfTeam, memoryScopeOf, openBranch, ownBranch } from './branch-scope.ts'
import { setBranchStatus } from './branches.ts'
import { consolidatePending } from './consolidate-session.ts'
import { writerAt } from './fact-writes.ts'
import type { MemoryHost } from './memory-host.ts'
import { runMemoryStep } from './memory-step.ts'
import { observe } from './record-observation.ts'
import { branchSchema } from './request-fields.ts'
import { answerObserved, callObserved, type Observed, toolObserved } from './team/observe-work.ts'

/** A chat message with `content`, and perhaps a `name`, of a conversation that is not in the ledger. */
const chatLineSchema = once(() => z.looseObject({ role: z.string() }))
type ChatLine = z.output<ReturnType<typeof chatLineSchema>>

export const archiveSchema = once(() =>
  z
    .strictObject({
      taskId: taskIdSchema.optional().describe('The task whose conversation is archived.'),
      context: z
        .array(chatLineSchema())
        .max(100_000)
        .optional()
        .describe('The conversation as chat messages, for a task that is not in the ledger.'),
      branch: branchSchema().optional().describe('The branch to close, with all below it.'),
    })
    .refine(({ taskId, branch }) => (taskId === undefined) !== (branch === undefined), {
      message: 'expected exactly one of `taskId` and `branch`',
    })
    .refine(({ context, branch }) => context === undefined || branch === undefined, {
      path: ['context'],
      message: 'a branch has no conversation: leave `context` out',
    }),
)

/**
 * Stores calls as `tool_use` or `error` and the last answer as `insight`. `context` is used only for a task that is not in the ledger.
 * Returns the number of new observations. @throws ErrandError FORBIDDEN
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
      const observed =
        task === undefined
          ? observationsOfChat(taskId, context)
          : observationsOf(conversationOf(yield* tx.message.list(taskId), yield* tx.call.list(taskId, ['call'])))
      if (observed.length === 0) return 0
      // The caller is the source of a conversation that it passes; model and tools are the sources of one in the ledger.
      const isGiven = task === undefined
      const sources = {
        model: isGiven ? yield* sourceOf(tx, caller) : yield* sourceIn(tx, 'model', taskId),
        tool: isGiven ? yield* sourceOf(tx, caller) : yield* sourceIn(tx, 'tool', taskId),
      }
      const { branch: known, team, agentId } = yield* memoryScopeOf(tx, taskId)
      const own = isTrusted(sources.model) ? known : yield* ownBranch(tx, taskId, ctx)
      const branch = yield* openBranch(tx, own, sources.model)
      if (caller.taskId !== undefined) yield* branchOfTeam(tx, caller, branch)
      const whose = { sessionId: taskId, branch, taskId: team?.taskId ?? taskId, agentId }
      let added = 0
      for (const { by, ...each } of observed) {
        if ((yield* observe(tx, writer, { ...each, ...whose, statedBy: sources[by] })).isNew) added++
      }
      return added
    },
  })
}

/** The same observations, with the same ids, as those made while the task works. */
function observationsOf({ steps }: Conversation): Observed[] {
  const ended = steps
    .flatMap(({ calls }) => calls.flatMap(({ entry }) => entry ?? []))
    .filter(({ status }) => status === 'completed' || status === 'failed')
  const answer = steps.findLast(({ calls, content }) => calls.length === 0 && content.trim() !== '')
  return [
    ...ended.map(callObserved),
    ...(answer === undefined ? [] : [answerObserved(answer.messageId, answer.content)]),
  ]
}

function observationsOfChat(taskId: string, context: readonly ChatLine[]): Observed[] {
  const lines = context.map(({ role, name, content }, position) => ({
    id: `${taskId}-${position}`,
    role,
    name: typeof name === 'string' ? name : 'a tool',
    text: typeof content === 'string' ? content : (JSON.stringify(content) ?? ''),
  }))
  const answer = lines.findLast(({ role, text }) => role === 'assistant' && text.trim() !== '')
  return [
    ...lines
      .filter(({ role }) => role === 'tool')
      .map(({ id, name, text }) => toolObserved(id, name, text, text.startsWith('Error: '))),
    ...(answer === undefined ? [] : [answerObserved(answer.id, answer.text)]),
  ]
}

/**
 * Closes a branch and all below it, after consolidating their observations. Returns the names of the closed branches, itself first.
 * @throws ErrandError INVALID_INPUT for `main`
 */
export function archiveBranch(host: MemoryHost, caller: Caller, name: string): Promise<string[]> {
  return runMemoryStep(host, 'archive branch', function* (tx, memory): Op<string[]> {
    const closed: string[] = []
    const open = [yield* branchOfTeam(tx, caller, name)]
    for (let branch = open.shift(); branch !== undefined; branch = open.shift()) {
      if (branch.name !== mainBranch && branch.status !== 'archived') {
        yield* consolidatePending(tx, memory, { branch: branch.name, trigger: 'archive' })
      }
      yield* setBranchStatus(tx, branch, 'archived', memory.ctx)
      closed.push(branch.name)
      const parent = branch.name
      const below = yield* everyRow((after, limit) => tx.branch.list({ parent }, limit, after))
      for (const each of below) open.push(each)
    }
    return closed
  })
}
