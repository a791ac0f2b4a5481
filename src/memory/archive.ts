// Putting away: the conversation of a task becomes observations, each under an id that follows from it, so that to archive it twice adds
// nothing; or a branch is closed with all below it, read as ever, and takes nothing new.
import type { Caller } from '../bus/caller.ts'
import { type Conversation, conversationOf } from '../entities/conversation.ts'
import { mainBranch, type ObservationType } from '../entities/memory.ts'
import { everyRow } from '../ledger/every-row.ts'
import { type Op, writing } from '../ledger/ledger.ts'
import { nearestOpenBranch, setBranchStatus } from '../steps/branch.ts'
import { clipped, storableText } from '../storable-text.ts'
import { consolidatePending } from './consolidate-session.ts'
import { deliberate } from './deliberate.ts'
import { writerAt } from './fact-writes.ts'
import type { MemoryHost } from './memory-host.ts'
import { observe } from './observe.ts'
import { branchOfTeam, standingOf } from './standing.ts'

/** A line of a conversation that the ledger does not hold, as chat messages have it. */
export interface ChatLine {
  role: string
  content?: unknown
  name?: unknown
  tool_call_id?: unknown
}

interface Kept {
  id: string
  type: ObservationType
  content: string
  outcome: string | null
}

const longestContent = 10_000
const longestOutcome = 2_000

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
  const moment = await host.moment()
  const writer = writerAt(moment, host)
  return host.step(
    writing('archive task', function* (tx): Op<number> {
      const { branch: own, team, agentId } = yield* standingOf(tx, taskId)
      const branch = yield* nearestOpenBranch(tx, own)
      if (caller.taskId !== undefined) yield* branchOfTeam(tx, caller, branch)
      const task = yield* tx.task.get(taskId)
      const kept =
        task === undefined
          ? keptOfChat(taskId, context)
          : keptOf(conversationOf(yield* tx.message.list(taskId), yield* tx.call.list(taskId, ['call'])))
      let added = 0
      for (const each of kept) {
        const whose = { sessionId: taskId, branch, taskId: team?.taskId ?? taskId, agentId }
        if ((yield* observe(tx, writer, { ...each, ...whose })).isNew) added++
      }
      return added
    }),
  )
}

/** Under the ids that they have where they are observed while the task works. */
function keptOf({ steps }: Conversation): Kept[] {
  const calls = steps.flatMap((step) =>
    step.calls.flatMap(({ asked, entry }): Kept[] => {
      if (entry?.status !== 'completed' && entry?.status !== 'failed') return []
      const failed = entry.error !== null
      return [
        {
          id: `obs-${entry.id}`,
          type: failed ? 'error' : 'tool_use',
          content: cut(`${asked.tool} ${asked.arguments}`, longestContent),
          outcome: cut(failed ? (entry.error?.message ?? '') : textOf(entry.result), longestOutcome),
        },
      ]
    }),
  )
  const answer = steps.findLast(({ calls: asked, content }) => asked.length === 0 && content.trim() !== '')
  return answer === undefined ? calls : [...calls, answered(`obs-${answer.messageId}`, answer.content)]
}

function keptOfChat(taskId: string, context: readonly ChatLine[]): Kept[] {
  const said = context.map((line, position) => ({
    ...line,
    text: textOf(line.content),
    id: `obs-${taskId}-${position}`,
  }))
  const calls = said.filter(({ role }) => role === 'tool')
  const answer = said.findLast(({ role, text }) => role === 'assistant' && text.trim() !== '')
  return [
    ...calls.map(({ id, text, name }): Kept => {
      const isError = text.startsWith('Error: ')
      return {
        id,
        type: isError ? 'error' : 'tool_use',
        content: cut(typeof name === 'string' ? name : 'a tool', longestContent),
        outcome: cut(text, longestOutcome),
      }
    }),
    ...(answer === undefined ? [] : [answered(answer.id, answer.text)]),
  ]
}

function answered(id: string, content: string): Kept {
  return { id, type: 'insight', content: cut(content, longestContent), outcome: null }
}

function cut(text: string, characters: number): string {
  return storableText(clipped(text, characters))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
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
      yield* setBranchStatus(tx, branch, 'archived', d.moment)
      closed.push(branch.name)
      const parent = branch.name
      open.push(...(yield* everyRow((after, limit) => tx.branch.list({ parent }, limit, after))))
    }
    return closed
  })
}
